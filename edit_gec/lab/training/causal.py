"""Fine-tune a decoder-only language model to correct: LoRA by peft, trained by Hugging Face's Trainer.

    python -m edit_gec.lab.training.causal --base models/smollm2 --data DATA --output RUN --steps 800

A pair is one text, `<begin> source \\n target <end>`; only the target is learnt (and its end). Pairs come from real
edits and from prose with synthetic errors, as for every other model here (pairs.py). The base stays as it is, in
bfloat16; what is trained is a product of two thin matrices beside each of its matrices (Hu et al. 2021). RUN gets a
checkpoint every SAVE_STEPS updates, and in the end adapter_model.safetensors with adapter_config.json, as peft writes
them but in a byte for each weight. The same command resumes.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import IterableDataset, get_worker_info
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from edit_gec.lab.training.clean_prose import prepare
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.pairs import Pairs
from edit_gec.lab.training.preparation import check_data, needs_prose
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.lab.training.trainer import checkpoints, complete_checkpoint, run_trainer, update_of
from edit_gec.modeling.adapters import FILE
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import export_hugging_face, load_causal
from edit_gec.modeling.quantization import pack
from edit_gec.text.files import atomic_write

SEPARATOR = "\n"
MATRICES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
RANK = 16
MOST_TOKENS = 200  # of a pair
POOL = 32  # batches that are cut together from pairs sorted by length
SAVE_STEPS = 50
IGNORE = -100


def make_row(source: str, target: str, tokens: BytePairs) -> tuple[list[int], int]:
    """The ids of a pair, and where its target begins."""
    begin = [] if tokens.begin is None else [tokens.begin]
    prompt = [*begin, *tokens.encode(source + SEPARATOR).ids]
    end = tokens.begin if tokens.begin is not None else tokens.end
    assert end is not None, "a vocabulary without any special token"
    return [*prompt, *tokens.encode(target).ids, end], len(prompt)


class PairRows(IterableDataset[dict[str, Tensor]]):
    """Endless batches of rows with at most `batch_tokens`, padding included."""

    def __init__(self, pairs: Pairs, tokens: Path, batch_tokens: int, start: int) -> None:
        self.pairs, self.tokens, self.batch_tokens, self.start = pairs, tokens, batch_tokens, start

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        worker = get_worker_info()
        rng = random.Random(f"{self.pairs.recipe.seed} {self.start} {worker.id if worker else 0}")
        tokens = BytePairs.load(find_base(self.tokens))
        texts = self.pairs.draw_texts(rng)
        while True:
            pool: list[tuple[list[int], int]] = []
            while sum(len(ids) for ids, _ in pool) < POOL * self.batch_tokens:
                row = make_row(*next(texts), tokens)
                if len(row[0]) <= MOST_TOKENS:
                    pool.append(row)
            batches = list(self._cut(sorted(pool, key=lambda row: len(row[0]))))
            rng.shuffle(batches)
            yield from map(collate, batches)

    def _cut(self, rows: Sequence[tuple[list[int], int]]) -> Iterator[list[tuple[list[int], int]]]:
        batch: list[tuple[list[int], int]] = []
        for row in rows:
            if batch and (len(batch) + 1) * len(row[0]) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch


def collate(rows: Sequence[tuple[list[int], int]]) -> dict[str, Tensor]:
    """ids, wanted [B, T]: `wanted` is the next token where it is one of the target, else IGNORE."""
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    wanted = torch.full((len(rows), longest), IGNORE)
    for n, (row, start) in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row)
        wanted[n, start - 1 : len(row) - 1] = torch.tensor(row[start:])
    return {"ids": ids, "wanted": wanted}


class TargetLoss(nn.Module):
    """Cross-entropy of the targets' tokens; the output layer sees no other position."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, wanted: Tensor) -> dict[str, Tensor]:
        """ids, wanted [B, T] -> the mean loss of a token. Padding stands on the right, where no token looks."""
        causal = self.model.get_base_model()
        hidden = causal.model(input_ids=ids, use_cache=False).last_hidden_state  # [B, T, d]
        asked = wanted != IGNORE
        logits = causal.lm_head(hidden[asked])  # [N, V]
        return {"loss": F.cross_entropy(logits.float(), wanted[asked])}


class Narrator(TrainerCallback):
    """Says on standard error how it goes, and in checkpoints that they are complete."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """One line."""
        if logs and "loss" in logs:
            now = time.strftime("%H:%M:%S")
            sys.stderr.write(f"{now} step {state.global_step} of {state.max_steps}, loss {logs['loss']:.4f}\n")

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Say that the checkpoint is complete."""
        complete_checkpoint(Path(args.output_dir) / f"checkpoint-{state.global_step}")


class AdapterTrainer(Trainer):
    """A Trainer that takes ready batches and saves what is trained, only."""

    def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The loss of a batch."""
        return model(**inputs)["loss"]

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        losses: Any = self.model
        losses.model.save_pretrained(output_dir or self.args.output_dir)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        from peft import load_peft_weights, set_peft_model_state_dict

        losses: Any = self.model
        set_peft_model_state_dict(losses.model, load_peft_weights(resume_from_checkpoint))


def load_base(base: Path) -> Any:
    """The base as a model of `transformers` in bfloat16, with fresh adapters in float32."""
    import transformers
    from peft import LoraConfig, get_peft_model

    make: Any = transformers.AutoModelForCausalLM
    base = find_base(base)
    if base.suffix == ".gguf":  # `transformers` would keep the weights packed, and compute slowly
        config, tensors = export_hugging_face(load_causal(base))
        model = make.from_config(transformers.AutoConfig.for_model(**config), dtype=torch.bfloat16)
        model.load_state_dict(tensors, strict=False)  # a tied output layer is no tensor of its own
        model.tie_weights()
    else:
        model = make.from_pretrained(base, dtype=torch.bfloat16)
    adapted = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=MATRICES))
    for parameter in adapted.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    return adapted


def train(args: argparse.Namespace) -> None:
    """Train, or go on from the last checkpoint. Raises InputError where the data lacks something."""
    stage = TrainingStage("only", steps=args.steps, real=args.real, clean=args.clean, rate=args.rate)
    recipe = Recipe(args.output.name, seed=args.seed, stages=(stage,))
    check_data(recipe, args.data)
    if needs_prose(recipe) and not (text := args.data / "pairs" / "prose.txt").exists():
        prepare(args.data / "prose", text, seed=args.seed)
    torch.manual_seed(args.seed)
    args.output.mkdir(parents=True, exist_ok=True)
    last = next(reversed(checkpoints(args.output)), None)
    start = update_of(last) if last else 0
    sys.stderr.write(f"{args.output}: {f'goes on from step {start}' if last else 'starts at step 0'}\n")
    pairs = Pairs(args.data, args.data, recipe, stage)
    model = load_base(args.base)
    arguments = TrainingArguments(
        output_dir=str(args.output), max_steps=args.steps, use_cpu=args.device == "cpu", bf16=True,
        per_device_train_batch_size=1, learning_rate=args.lr, warmup_steps=20, lr_scheduler_type="linear",
        weight_decay=0.0, max_grad_norm=1.0, logging_steps=10, save_steps=SAVE_STEPS,
        report_to=[], disable_tqdm=True, ignore_data_skip=True, remove_unused_columns=False, seed=args.seed,
        dataloader_num_workers=1, dataloader_pin_memory=False,
    )  # fmt: skip
    rows = PairRows(pairs, args.base, args.batch_tokens, start)
    trainer = AdapterTrainer(
        model=TargetLoss(model), args=arguments, train_dataset=rows, data_collator=lambda items: items[0]
    )
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Narrator())
    run_trainer(trainer, args.output, last)
    trainer.save_model(str(args.output))
    pack_adapters(args.output / FILE)


def pack_adapters(path: Path) -> None:
    """Rewrite a file of adapters in a byte for each weight; modeling/adapters.py reads both."""
    from safetensors.torch import load_file, save

    atomic_write(path, save(pack(load_file(path)), metadata={"format": "pt"}))


def main(argv: Sequence[str] | None = None) -> int:
    """Train adapters; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--base", type=Path, required=True, help="model folder (models/smollm2) or GGUF file")
    add("--data", type=Path, required=True, help="corpora, as for edit-gec train")
    add("--output", type=Path, required=True, help="folder of the run")
    add("--steps", type=int, default=800, help="updates (default: 800)")
    add("--batch-tokens", type=int, default=1536, help="tokens of an update, padding included (default: 1536)")
    add("--lr", type=float, default=4e-4, help="highest learning rate (default: 4e-4)")
    add("--real", type=float, default=0.45, help="share of real edits (default: 0.45)")
    add("--clean", type=float, default=0.1, help="share of clean sentences (default: 0.1)")
    add("--rate", type=float, default=1.0, help="errors a sentence against learners' (default: 1)")
    add("--seed", type=int, default=7)
    add("--device", default="cpu")
    train(parser.parse_args(argv))
    return 0


if __name__ == "__main__":
    run_main(main)
