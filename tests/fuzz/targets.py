"""What is fuzzed: functions of any bytes that break no law and raise nothing but one-line errors.

fuzz.py finds bytes that reach new code; test_fuzz.py tries each target for a short while.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from support.correctors import edit5_corrector

from edit_gec.annotation import m2
from edit_gec.config.projects import Projects
from edit_gec.corrector import Corrector
from edit_gec.editing.alignment import align
from edit_gec.editing.plan import Plan, realize, spans
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.text.edits import Edit, check
from edit_gec.text.file_search import Search
from edit_gec.text.paragraphs import LINE_BREAK
from edit_gec.text.render import as_json
from edit_gec.text.sentences import split

MODEL = Path(__file__).parent.parent.parent / "models" / "edit5-mini"
LONGEST = 2000  # bytes
REPLACEMENTS = ("", "x", " the", "a b", "**", "\n", "`", " ")


def text_of(data: bytes) -> str:
    return data[:LONGEST].decode("utf-8", "surrogateescape")


def sentences(data: bytes) -> None:
    """Every character of a sentence is the document's at its offset, or a space for a line break; in order, once."""
    mode, text = data[:1], text_of(data[1:])
    flags = mode[0] if mode else 0
    last = 0
    for sentence in split(text, lines=bool(flags & 1), markup=bool(flags & 2)):
        offsets = list(sentence.offsets)
        folds = dict(sentence.folds)
        assert len(offsets) == len(sentence.text) + 1
        assert offsets == sorted(set(offsets)) or not sentence.text
        assert not sentence.text or last <= offsets[0] <= offsets[-1] <= len(text)
        for index, character in enumerate(sentence.text):
            assert character == (" " if index in folds else text[offsets[index]])
        last = offsets[-1] if sentence.text else last


def markup(data: bytes) -> None:
    """Whatever is projected leaves protected text and line breaks as they are."""
    seed, text = data[:4].ljust(4, b"\0"), text_of(data[4:])
    for sentence in split(text):
        length = len(sentence.text)
        start, end = sorted((seed[0] * length // 255, seed[1] * length // 255))
        projected = sentence.to_document(start, end, REPLACEMENTS[seed[2] % len(REPLACEMENTS)])
        if projected is None:
            continue
        first, last, new = projected
        assert 0 <= first <= last <= len(text) and text[first:last] != new
        assert LINE_BREAK.findall(text[first:last]) == LINE_BREAK.findall(new)
        for low, high in sentence.protected:
            begin, stop = sentence.offsets[low], sentence.offsets[high - 1] + 1
            assert last <= begin or stop <= first, "protected text was changed"


@cache
def vocabulary() -> Tokens:
    return Tokens.load(MODEL, 192)


def plans(data: bytes) -> None:
    """Of two texts: the plan gives the second again. Of any numbers: a plan whose edits do what it says."""
    tokens = vocabulary()
    first, _, second = data[:LONGEST].partition(b"\xff")
    source, target = (part.decode("utf-8", "ignore").replace("▁", "_")[:200] for part in (first, second))
    pieces = tokens.encode(source)
    plan = align(pieces.ids, tokens.ids(target), tokens)
    assert realize(plan, pieces, tokens) == target
    numbers = list(second)
    order = list(dict.fromkeys(n % (len(pieces) + 1) for n in numbers[::3]))
    order = [0, *(n for n in order if n)]
    inserted = {1 + n % len(order): (3 + n * 31 % (tokens.pieces - 3),) for n in numbers[1::3]}
    wild = Plan(len(pieces) + 1, tuple(order), tuple(sorted(inserted.items())))
    wild.tags(), wild.ranks(), wild.pointers(), wild.anchors(), realize(wild, pieces, tokens)
    done = 0
    for start, end, _, (before, after) in spans(wild, pieces, tokens):
        assert done <= start <= end <= len(source) and 0 <= before < after <= len(pieces) + 1
        done = end


def m2_files(data: bytes) -> None:
    """What can be read is written so that it reads the same."""
    with tempfile.NamedTemporaryFile(suffix=".m2") as file:
        file.write(data[:LONGEST])
        file.flush()
        try:
            blocks = m2.read_m2(file.name)
        except InputError:
            return
        Path(file.name).write_text(m2.format_m2(blocks), encoding="utf-8")
        assert m2.read_m2(file.name) == blocks
        for block in blocks:
            for edits in block.annotators.values():
                m2.apply_edits(block.tokens, edits)


@cache
def tiny() -> Corrector:
    """A corrector with random weights that edits much, and our vocabulary."""
    import torch

    from edit_gec.backends.torch_network import TorchNetwork
    from edit_gec.modeling.config import EdiT5Config
    from edit_gec.modeling.edit5 import EdiT5

    torch.set_num_threads(1)
    torch.manual_seed(1)
    shape: dict[str, Any] = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_heads": 4, "num_layers": 1, "point_width": 8}
    model = EdiT5(EdiT5Config(vocab_size=vocabulary().size, slots=192, **shape)).eval()
    with torch.no_grad():
        model.point_distance[9] /= 2
        model.embedding.weight[1] *= 16
    return edit5_corrector(TorchNetwork(model), vocabulary(), folder=MODEL)


def path(data: bytes) -> None:
    """The whole path: valid edits, all else as it was, offsets in every unit."""
    text = text_of(data)[:400]
    correction = tiny().correct(text)
    check(text, correction.edits)
    for edit, plain in zip(correction.edits, as_json("", text, correction.edits)["edits"], strict=True):
        for unit, codec in (("utf8", "utf-8"), ("utf16", "utf-16-le")):
            units = len(text[: edit.start].encode(codec, "surrogatepass")) // (1 if unit == "utf8" else 2)
            assert plain[f"start_{unit}"] == units
    done, kept = 0, []
    for edit in correction.edits:
        kept.append(text[done : edit.start])
        done = edit.end
    at = 0
    for piece, edit in zip(kept, correction.edits, strict=True):
        assert correction.corrected.startswith(piece + edit.replacement, at)
        at += len(piece) + len(edit.replacement)
    assert correction.corrected[at:] == text[done:]


@cache
def client() -> Any:
    """The server's application, without a network."""
    from fastapi.testclient import TestClient

    from edit_gec.server.app import create_app
    from edit_gec.server.middleware import Limits

    opened = TestClient(create_app(tiny(), Limits(characters=1000)), raise_server_exceptions=False)
    opened.__enter__()
    return opened


REQUESTS = (
    ("/v1/correct", "application/json"),
    ("/v2/check", "application/x-www-form-urlencoded"),
    ("/v1/correct/stream", "application/json"),
)


def http(data: bytes) -> None:
    """No body makes a handler fail: it is answered, or refused as the client's fault."""
    kind, body = data[:1], data[1:LONGEST]
    place, content = REQUESTS[(kind[0] if kind else 0) % len(REQUESTS)]
    answer = client().post(place, content=body, headers={"content-type": content})
    assert answer.status_code < 500, (answer.status_code, answer.text)
    if answer.status_code == 200 and content == "application/json":
        answer.read().decode("utf-8")


SETTINGS_FILES = ("edit-gec.toml", "pyproject.toml", ".gitignore", "words.txt")


def settings(data: bytes) -> None:
    """Any bytes in a file of a project are settings, or one line that says what is wrong with them."""
    kind, content = data[:1], data[1:LONGEST]
    name = SETTINGS_FILES[(kind[0] if kind else 0) % len(SETTINGS_FILES)]
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / ".git").mkdir()
        (folder / "a.md").touch()
        if name == "words.txt":
            (folder / "edit-gec.toml").write_text('dictionary = "words.txt"')
        (folder / name).write_bytes(content)
        try:
            list(Search().find(root))
            found = Projects().find_settings(str(folder / "a.md"))
        except InputError as error:
            assert "\n" not in str(error) and len(str(error)) < 1000, str(error)
            return
        found.edit_filter().on("She go home.")(Edit(4, 6, "go", "goes", 0.9))


@cache
def vocabulary_bytes() -> bytes:
    return (MODEL / "spiece.model").read_bytes()


def vocabulary_files(data: bytes) -> None:
    """A vocabulary of which some bytes are others is refused in one line, or reads and writes."""
    place, length, new = int.from_bytes(data[:3], "big"), data[3:4], data[4:LONGEST]
    whole = vocabulary_bytes()
    place %= len(whole)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spiece.model").write_bytes(whole[:place] + new + whole[place + (length or b"\0")[0] :])
        try:
            tokens = Tokens.load(folder, 192)
        except ModelError as error:
            assert "\n" not in str(error), str(error)
            return
        tokens.decode(tokens.encode("She go home 🏠 it's.").ids)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (sentences, markup, plans, m2_files, settings, vocabulary_files, path, http)
}
SEEDS: dict[str, list[bytes]] = {
    "sentences": [b'\2She go home. "It\'s late," he say.\r\n\r\n- a list\n- of items', b"\3one\r\ntwo\rthree"],
    "markup": [
        b"\0\xff\0\0# Head\n\n> We **has** met `code` and [a link](http://x.y/z_a).\n\n```\nx = 1\n```\n<p>It go",
        b"\x20\x90\1\0---\na: b\n---\n<!-- edit-gec: ignore -->\n| a | b |\n|---|---|\n$x_1$ me@x.org 3.14\n    code",
    ],
    "plans": [b"She go home\xffShe goes home", b"a b c d\xffd c b a\xf0\x9f\x8f\xa0"],
    "m2_files": [
        b"S He go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\n",
        b"S He go .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1\n\n",
    ],
    "settings": [
        b'\0dictionary = ["kubectl"]\nignore = ["PUNCT"]\nignore-regex = ["[{].*?}"]\nmin-confidence = 1',
        b'\0exclude = ["vendor", "*.md"]\nmodel = "m"\n[[overrides]]\npaths = ["docs/*.md"]\nmin-confidence = 0.5',
        b"\1[tool.edit-gec]\nignore = ['case']",
        b"\2# a\n*.md\n!a.md\n/docs/**\n[a-z]?\n",
        b"\3kubectl\r\ncaf\xc3\xa9\n",
    ],
    "vocabulary_files": [b"\0\0\x10\1a", b"\0\xff\0\x10", b"\1\0\0\0<0xB9>"],
    "path": ["She go **home** 🏠 and its\r\nlate . I'm café ﬁ 日本 <b>x</b>".encode()],
    "http": [
        b'\0{"text": "She go home.", "min_confidence": 0.5, "explain": false}',
        b"\1language=auto&text=She+go%20home.&level=picky&disabledRules=A,B",
        b'\1language=en-US&data={"annotation":[{"text":"She "},{"markup":"<b>","interpretAs":"\\n"},{"text":"go"}]}',
        b'\2{"text": "She go home. It were late."}',
    ],
}
