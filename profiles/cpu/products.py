"""Which matrix product, and which numbers, are fastest on this CPU: milliseconds of one layer's product by rows.

python profiles/cpu/products.py [THREADS]        rows: 1 a decoder step, 3 three slots, 25 a sentence, 400 a batch

float32 by torch (MKL), float32 by oneDNN (edit_gec/modeling/onednn.py), bfloat16, and int8 weights with activations
quantised as they come. Eight layers in turn, so that weights come from memory as in a model; the best of seven rounds.
The last columns are the largest error, relative to the largest value.
"""

from __future__ import annotations

import sys
import warnings
from time import perf_counter

import torch
from torch import nn
from torch.nn import functional as F

from edit_gec.lab.performance import machine

SHAPES = {"base": [(768, 2304), (768, 4096), (2048, 768)], "mini": [(256, 768), (256, 1408), (704, 256)]}


def milliseconds(run) -> float:
    run()
    times = []
    for _ in range(7):
        begun = perf_counter()
        run()
        times.append(perf_counter() - begun)
    return 1000 * min(times)


def onednn(x, weight):
    return torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")


@torch.inference_mode()
def row(rows: int, width: int, out: int) -> list[str]:
    x = torch.randn(rows, width)
    layers = [nn.Linear(width, out, bias=False) for _ in range(8)]
    weights = [layer.weight for layer in layers]
    small = [weight.bfloat16() for weight in weights]
    bytes_ = [torch.ao.quantization.quantize_dynamic(nn.Sequential(layer), {nn.Linear}) for layer in layers]
    ways = [
        lambda: [F.linear(x, weight) for weight in weights],
        lambda: [onednn(x, weight) for weight in weights],
        lambda: [F.linear(x.bfloat16(), weight) for weight in small],
        lambda: [layer(x) for layer in bytes_],
    ]
    exact = F.linear(x.double(), weights[0].double())
    errors = [float((way()[0].double() - exact).abs().max() / exact.abs().max()) for way in ways]
    times = [milliseconds(way) / 8 for way in ways]
    return [*(f"{time:.3f}" for time in times), *(f"{error:.0e}" for error in errors)]


def main(threads: int) -> None:
    warnings.simplefilter("ignore")  # torch.ao is going to move
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    ways = ["float32", "oneDNN", "bfloat16", "int8"]
    print(f"{machine.describe()['name']}, {threads} threads, torch {torch.__version__}\n")  # noqa: T201
    print("| size | rows | layer |", " | ".join([*ways, *(f"error {way}" for way in ways)]), "|")  # noqa: T201
    print("|" + " --- |" * 11)  # noqa: T201
    for size, shapes in SHAPES.items():
        for rows in (1, 3, 25, 400):
            for width, out in shapes:
                print(f"| {size} | {rows} | {width} x {out} |", " | ".join(row(rows, width, out)), "|")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else torch.get_num_threads())
