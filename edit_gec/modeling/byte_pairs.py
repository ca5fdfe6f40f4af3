"""Byte-level byte-pair encoding with character offsets, as decoder-only models have it (Radford et al. 2019, 2.2).

    >>> tokens = BytePairs.load("SmolLM2-135M-Instruct.Q4_1.gguf")                         # doctest: +SKIP
    >>> tokens.encode("She goes.").ends                                                    # doctest: +SKIP
    (3, 8, 9)

The vocabulary is a folder's tokenizer.json or the metadata of a GGUF file; `tokenizers` reads both. Any text is
expressible. What looks like a special token in a text is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.errors import MissingExtraError, ModelError
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.config import read_config

FILE = "tokenizer.json"
# How a text is cut before pairs are merged, by tokenizer.ggml.pre of GGUF: GPT-2's own pattern (None), digits one by
# one and then that, or a pattern whose matches are cut out.
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CUTS: dict[str, str | None] = {
    "gpt-2": None,
    "default": None,
    "smollm": "digits",
    "llama-bpe": rf"{_WORDS}|\p{{N}}{{1,3}}|{_MARKS}",
    "qwen2": rf"{_WORDS}|\p{{N}}|{_MARKS}",
}

CONTROL = 3  # a special token, by tokenizer.ggml.token_type


class EncodedText(NamedTuple):
    """The ids of a text, and for each the character after its last one."""

    ids: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BytePairs:
    """A vocabulary of byte pairs. `begin` starts a text and `end` ends one, so far as the model knows such ids.

    `opening`: what the tokenizer itself puts before every text. `ends`: all ids that end an output.
    """

    tokenizer: Any
    begin: int | None
    end: int | None
    opening: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> BytePairs:
        """The vocabulary of a model folder or a GGUF file.

        Raises ModelError where there is none of this kind; MissingExtraError without `tokenizers` or `gguf`.
        """
        path = find_base(Path(path))
        try:
            import tokenizers  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtraError(
                "language models need tokenizers: pip install '.[lm]' in edit-gec's folder"
            ) from None
        loaded = _load_gguf(path) if path.suffix == ".gguf" else _load_json(path)
        loaded.tokenizer.encode_special_tokens = True
        loaded.tokenizer.no_truncation()
        loaded.tokenizer.no_padding()
        return loaded

    def encode(self, text: str) -> EncodedText:
        """The ids of a text, without special ones; lone surrogates read as "?"."""
        if not text.isascii():
            text = text.encode("utf-8", errors="replace").decode()
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return EncodedText(tuple(encoding.ids), tuple(end for _, end in encoding.offsets))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids; special ones are silent."""
        return str(self.tokenizer.decode([*ids], skip_special_tokens=True))

    @property
    def size(self) -> int:
        """How many ids there are."""
        return int(self.tokenizer.get_vocab_size())

    @cached_property
    def specials(self) -> dict[str, int]:
        """Special tokens, which no text is tokenised to, by what they are called."""
        added = self.tokenizer.get_added_tokens_decoder()
        return {token.content: number for number, token in added.items() if token.special}

    @cached_property
    def surfaces(self) -> list[bytes]:
        """What each id writes; nothing where it is special. Raises ModelError where ids are not made of bytes."""
        written = {chr(code): byte for byte, code in enumerate(_byte_codes())}
        if self.tokenizer.token_to_id(chr(_byte_codes()[ord("\n")])) is None:
            raise ModelError("vocabulary: its pieces are not made of bytes; expected byte-level pairs, as of GPT-2")
        surfaces = [b""] * self.size
        added = self.tokenizer.get_added_tokens_decoder()
        for piece, number in self.tokenizer.get_vocab().items():
            if number in added:
                surfaces[number] = b"" if added[number].special else piece.encode()
            else:
                surfaces[number] = bytes(written[character] for character in piece if character in written)
        return surfaces


def _byte_codes() -> list[int]:
    """The code point that stands for each byte: itself where it is visible, the next one from 256 on where not."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [byte if byte in visible else next(hidden) for byte in range(256)]


def _load_json(folder: Path) -> BytePairs:
    from tokenizers import Tokenizer

    path = folder / FILE
    if not path.is_file():
        raise ModelError(f"{folder}: no {FILE} here; a decoder-only model needs its vocabulary")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # a bare Exception is what `tokenizers` raises
        raise ModelError(f"{path}: not a vocabulary ({error}); copy or download it again") from None
    config = read_config(folder)
    begin = _find_begin(tokenizer, next(iter(_ids(config.get("bos_token_id"))), None))
    ends = _ids(config.get("eos_token_id"))
    generation = read_config(folder, "generation_config.json") if (folder / "generation_config.json").is_file() else {}
    every = dict.fromkeys((*ends, *_ids(generation.get("eos_token_id"))))
    one = tokenizer.encode("a", add_special_tokens=False).ids[0]
    framed = tokenizer.encode("a").ids
    opening = tuple(framed[: framed.index(one)])
    return BytePairs(tokenizer, begin, next(iter(ends), None), opening, tuple(every))


def _find_begin(tokenizer: Any, given: int | None) -> int | None:
    """What begins a text: <|endoftext|> where there is one; SmolLM2's files name what begins a chat."""
    found = tokenizer.token_to_id("<|endoftext|>")
    return given if found is None else int(found)


def _ids(given: Any) -> list[int]:
    """The ids of an entry of config.json, which may be one or a list."""
    return [each for each in (given if isinstance(given, list) else [given]) if type(each) is int]


def _load_gguf(path: Path) -> BytePairs:
    from tokenizers import Tokenizer, decoders, models

    from edit_gec.modeling.gguf_files import read_gguf_file

    values = read_gguf_file(path).values
    kind, cut = values.get("tokenizer.ggml.model"), values.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2" or cut not in CUTS:
        expected = f"expected gpt2 cut as one of {', '.join(CUTS)} (or a folder with {FILE})"
        raise ModelError(f"{path}: vocabulary {kind!r}, cut as {cut!r}; {expected}")
    pieces: list[str] = values.get("tokenizer.ggml.tokens", [])
    merges = [tuple(pair.split(" ", 1)) for pair in values.get("tokenizer.ggml.merges", [])]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    try:
        tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    except Exception as error:
        raise ModelError(f"{path}: not a vocabulary ({error}); copy or download it again") from None
    tokenizer.pre_tokenizer = _make_cutter(CUTS[cut])
    tokenizer.decoder = decoders.ByteLevel()
    begin = _find_begin(tokenizer, values.get("tokenizer.ggml.bos_token_id"))
    kinds = values.get("tokenizer.ggml.token_type", [])
    tokenizer.add_special_tokens([piece for piece, kind in zip(pieces, kinds, strict=False) if kind == CONTROL])
    ends = [values.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot")]
    opens = begin is not None and values.get("tokenizer.ggml.add_bos_token", False)
    known = tuple(int(end) for end in ends if end is not None)
    return BytePairs(tokenizer, begin, next(iter(known), None), (begin,) if opens and begin is not None else (), known)


def _make_cutter(cut: str | None) -> Any:
    """The pre-tokenizer of `tokenizers` that cuts like this and ends in bytes."""
    from tokenizers import Regex, pre_tokenizers

    if cut is None:
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    is_pattern = cut != "digits"
    first = (
        pre_tokenizers.Split(Regex(cut), "isolated") if is_pattern else pre_tokenizers.Digits(individual_digits=True)
    )
    return pre_tokenizers.Sequence([first, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not is_pattern)])
