"""edit-gec with a model that dies of one word and fails at another; all else is the real thing.

python tests/fragile.py corpus INPUT OUTPUT
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from torch import Tensor

from edit_gec import corrector
from edit_gec.cli import main
from edit_gec.decode import Prediction
from edit_gec.tokens import Pieces

DEADLY, FAULTY = "basilisk", "gremlin"


class Fragile(corrector.Corrector):
    def predict(self, sentences: Sequence[Pieces], encoded: Tensor | None = None) -> list[Prediction]:
        text = " ".join(sentence.source for sentence in sentences)
        if DEADLY in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if FAULTY in text:
            raise IndexError("a gremlin")
        return super().predict(sentences, encoded)


if __name__ != "fragile":  # run, or imported again by worker processes; not by a test
    corrector.Corrector = Fragile  # type: ignore[misc]

if __name__ == "__main__":
    sys.exit(main())
