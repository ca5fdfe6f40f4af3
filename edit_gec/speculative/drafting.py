"""How an EdiT5 drafts for a T5, as the folder of the T5 says. It changes the speed of verification, not its output.

    FOLDER/config.json   "thresholds", "respelt"
    FOLDER/drafter/      optional: heads of an EdiT5 on this T5's encoder that have learnt what it writes

`respelt` is the exception: the target then reads another text (editing/respelling.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edit_gec.editing.thresholds import read_overrides
from edit_gec.modeling import shared_encoder
from edit_gec.modeling.config import read_config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.speculative.target import Target


@dataclass(frozen=True)
class DraftingProfile:
    """How an EdiT5 drafts best for one target.

    `thresholds` (thresholds.py) say how readily it edits. `heads` are an EdiT5 on the target's encoder that has learnt
    to draft for it. `respelt`: the target reads misspelt words as the word list corrects them.
    """

    thresholds: Mapping[str, Any] = field(default_factory=dict)
    heads: EdiT5 | None = None
    respelt: bool = False

    @classmethod
    def load(cls, folder: str | Path, target: Target) -> DraftingProfile:
        """The profile in the folder that `target` was loaded from. Raises ModelError for entries that are wrong."""
        folder = Path(folder)
        heads = None
        if target.edit5 is not None:
            heads = shared_encoder.load_drafter(folder, target.model, target.edit5)
        if heads is not None:
            heads.to(target.device, target.model.embedding.weight.dtype)
        return cls(read_overrides(folder), heads, bool(read_config(folder).get("respelt")))
