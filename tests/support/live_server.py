"""For the server's tests: a random model that surely edits their text, with insertions and doubts; a running server."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import uvicorn

from edit_gec.cli.serve import open_listener
from edit_gec.corrector import Corrector
from edit_gec.modeling.tokenizer import FILE
from edit_gec.server.app import create_app
from edit_gec.server.callers import Callers
from edit_gec.server.middleware import Limits
from edit_gec.server.protocol import PatientProtocol
from support.lively import write_one_piece

if TYPE_CHECKING:
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens

PROSE = "She go to school 🏠 and its late. I has two banana , but the the dog eat it.\r\nWe was there on 3 May."
LIMITS = Limits(characters=3000, timeout_s=30, body_timeout_s=1, per_client=4)


def save(make_model: Callable[..., EdiT5], tokens: Tokens, folder: Path) -> Path:
    """The first of some random models that is lively enough, saved to `folder`."""
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    for seed in range(60):
        model = make_model(seed)
        with torch.no_grad():
            model.tag_head.weight *= 2 + seed % 3
        write_one_piece(model)
        model.save(folder)
        corrector = Corrector.load(folder, threads=1)
        edits = corrector.correct(PROSE, markup=False).edits
        sentences = [corrector.edit5.tokens.encode(sentence) for sentence in PROSE.splitlines()]
        written = sum(prediction.steps for prediction in corrector.edit5.predict_plans(sentences))
        sure = [edit.confidence for edit in edits]
        if len(edits) >= 4 and written and min(sure) < 0.3 < max(sure) and edits[-1].start > PROSE.index("🏠"):
            return folder
    raise AssertionError("no such model among 60: has decoding changed?")


@contextlib.contextmanager
def serving(
    corrector: Corrector,
    limits: Limits = LIMITS,
    *,
    projects: Any = None,
    upstream: Any = None,
    port: int = 0,
    **who: Any,
) -> Iterator[str]:
    """The address of a server that runs until the block ends."""
    listener = open_listener("127.0.0.1", port)
    callers = Callers.of_listener("127.0.0.1", **who)
    app = create_app(corrector, limits, callers, projects=projects, upstream=upstream)
    server = uvicorn.Server(uvicorn.Config(app, http=PatientProtocol, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:  # a test that fails must not leave a thread that keeps the process alive
        server.should_exit = True
        thread.join(10)
        listener.close()
