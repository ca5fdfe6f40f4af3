r"""A decoder-only target: a language model that writes the corrected sentence after a prompt.

    >>> target = CausalTarget.load("smollm2-corrector", prompt=r"Correct: {source}\n")     # doctest: +SKIP
    >>> [target.text(ids) for ids in target.generate(["She go home."])]                    # doctest: +SKIP
    ['She goes home.']

Any model of Llama's shape works (modeling/causal_checkpoint.py), as a Hugging Face folder or a GGUF file. An output
ends at the model's own end of a text, and at a line end where the prompt puts the correction on a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.byte_pieces import BytePieces
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.causal_lm import CausalLM, causal_visibility
from edit_gec.modeling.config import read_config
from edit_gec.speculative.any_target import MAX_LENGTH, AnyTarget, output_limit
from edit_gec.speculative.causal_rows import CausalDecoder, Prompts, SharedKeys
from edit_gec.speculative.prompt import KEY, Prompt, cut_specials
from edit_gec.tracing import Stage, span


class CausalTarget(AnyTarget):
    """A language model, its vocabulary and its prompt. It shares no encoder: it has none."""

    model: CausalLM
    tokens: BytePieces
    pass_cost = 48.0  # SmolLM2-135M in float32, one core of an Intel Xeon: 89 ms, and 1.75 a token (profiles/LOG.md)

    def __init__(self, model: CausalLM, pairs: BytePairs, prompt: Prompt, *, max_length: int = MAX_LENGTH) -> None:
        if pairs.size > model.config.vocab_size:
            raise ModelError(
                f"target: the vocabulary has {pairs.size} pieces, the model only {model.config.vocab_size} of them"
            )
        if max_length < 1:
            raise InputError(f"max_length {max_length}: expected at least one token")
        self.model = model
        self.tokens = BytePieces(pairs, line=prompt.is_line, spaced=prompt.is_spaced)
        self.prompt = prompt
        self.max_length = max_length
        self.ends = self.tokens.ends
        before = cut_specials(prompt.before, pairs.specials)
        after = cut_specials(prompt.after, pairs.specials)
        opening = [] if before[1:] and before[0] == "" else pairs.opening  # a prompt may begin with it itself
        self._head = [*opening, *self._ids(before[:-1])]
        self._around = str(before[-1]), str(after[0])  # text that is tokenised together with the sentence
        self._tail = self._ids(after[1:])
        if self.max_pieces < 1:
            have = f"{model.config.max_position_embeddings} positions"
            raise InputError(f"target prompt: {len(self._ids_of(''))} pieces; expected room for a sentence in {have}")

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        prompt: str | None = None,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        max_length: int = MAX_LENGTH,
    ) -> CausalTarget:
        """The model of a folder or GGUF file. Without `prompt`, that of "prompt" in the folder's config.json.

        Raises ModelError for a broken or unknown model, InputError for a prompt that is missing or has no {source}.
        """
        path = Path(path)
        if prompt is None:
            prompt = read_config(path).get(KEY) if path.is_dir() else None
        if not isinstance(prompt, str):
            raise InputError(
                f"target {path.name}: a language model needs its prompt (target_prompt 'Correct: {{source}}\\n')"
            )
        parsed = Prompt.parse(prompt)
        pairs = BytePairs.load(path)
        return cls(load_causal(path, dtype).to(device), pairs, parsed, max_length=max_length)

    # ---------------------------------------------------------------- sources

    @cached_property
    def max_pieces(self) -> int:
        """Pieces of the longest sentence whose prompt and output fit into the model's positions."""
        room = self.model.config.max_position_embeddings - len(self._ids_of(""))
        fits = [n for n in range(self.max_length) if n + output_limit(n, self.max_length) <= room]
        return fits[-1] if fits else 0

    def fits(self, sentence: str) -> bool:
        """Whether the target can read a sentence of this length."""
        return len(self.tokens.ids(sentence)) <= self.max_pieces

    def source_ids(self, sentence: str) -> list[int]:
        """The prompt of a sentence. Raises InputError for a sentence that does not fit."""
        if not self.fits(sentence):
            raise InputError(
                f"target: a sentence of {len(self.tokens.ids(sentence))} pieces, expected at most {self.max_pieces}; "
                f"split it, or raise max_length: {sentence[:40]!r}..."
            )
        return self._ids_of(sentence)

    def encode_shared(self, sentences: Sequence[str]) -> Prompts:
        """The prompts of these sentences."""
        with span(Stage.TARGET_TOKENIZE):
            return Prompts([self.source_ids(sentence) for sentence in sentences])

    def _ids_of(self, sentence: str) -> list[int]:
        before, after = self._around
        text = before + self.tokens.read(sentence) + after
        return [*self._head, *self.tokens.pairs.encode(text).ids, *self._tail]

    def _ids(self, parts: Sequence[str | int]) -> list[int]:
        """Ids of stretches of text and special tokens."""
        pairs = self.tokens.pairs
        return [each for part in parts for each in (pairs.encode(part).ids if isinstance(part, str) else (part,))]

    @cached_property
    def _shared(self) -> SharedKeys:
        """What the prompts begin with, read."""
        return SharedKeys.read(self.model, [*self._head, *self.tokens.pairs.encode(self._around[0]).ids])

    # ---------------------------------------------------------------- outputs

    def new_decoder(self) -> CausalDecoder:
        """A decoder without rows, which knows what the prompts begin with."""
        return CausalDecoder(self.model, self._shared)

    @torch.inference_mode()
    def next_logits(self, sentence: str, written: Sequence[int]) -> Tensor:
        """Logits [V] of the token that follows what is written, from one pass over this sentence alone."""
        ids = torch.tensor([[*self.source_ids(sentence), *written]], device=self.device)  # [1, T]
        length = ids.shape[1]
        positions = torch.arange(length, device=self.device)[None]
        hidden = self.model(ids, positions, causal_visibility([length], self.device))
        return self.model.logits(hidden[0, -1])

    def text(self, ids: Sequence[int]) -> str:
        """Text of an output, up to the line end that ended it."""
        with span(Stage.DETOKENIZE):
            text = self.tokens.decode(ids).removeprefix(" " * self.tokens.spaced)
            return text.partition("\n")[0] if self.prompt.is_line else text
