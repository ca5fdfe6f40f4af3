"""A decoder-only model as two ONNX graphs without weights: `build_causal` makes them from its shape.

    read      x, positions, cosines, sines, mask, past -> hidden    states
                                                          read      keys and values, the past of what comes after
    normalise hidden                                   -> total     log of the sum over the vocabulary of exp(logit)
                                                          largest, tokens     the K largest logits and whose they are

Embeddings are looked up by the caller, and so are the rows of the output layer for the tokens that it asks about: only
the sum over the vocabulary is rounded. B rows, T positions, N places, d model width, H heads, G key/value heads, k head
width, V vocabulary, P positions of the table of angles, K = LIKELIEST.

Weights are external initializers that carry our names: `X` in float32 [K, N]; with int8 `X.digits` [K, N] and
`X.scales` [N]. Where a model has powers of two for them, norms and the matrices behind them are smoothed
(causal_weights.py), and there one part of the inputs is enough.
"""

from __future__ import annotations

from typing import Any

from edit_gec.backends.graphs import CONTRIB, Nodes, finish
from edit_gec.backends.sessions import SMOOTHED
from edit_gec.modeling.causal_config import CausalConfig

PRECISIONS = ("float32", "int8")
LIKELIEST = 4  # tokens that a place names


def causal_graph_files(precision: str) -> tuple[str, str]:
    """Names of the two graphs."""
    kind = "" if precision == "float32" else f"-{precision}"
    return f"read{kind}.onnx", f"normalise{kind}.onnx"


def build_causal(config: CausalConfig, precision: str, *, smooths: bool = False) -> dict[str, Any]:
    """The two graphs as ONNX ModelProtos, by the name of their file. `smooths`: the model has powers of two."""
    read, normalise = causal_graph_files(precision)
    nodes = [CausalNodes(config, precision, smooths=smooths) for _ in range(2)]
    return {read: _read(nodes[0]), normalise: _normalise(nodes[1])}


class CausalNodes(Nodes):
    """Nodes of a graph of a decoder-only model."""

    def __init__(self, config: CausalConfig, precision: str, *, smooths: bool = False) -> None:
        super().__init__(int8=precision == "int8")
        self.config = config
        self.smooths = smooths and self.int8
        self.read: list[str] = []  # keys, then values, of each layer so far

    def norm(self, x: str, name: str) -> str:
        """Scale by the root mean square [..., d]."""
        return self.scale_by_rms(x, name, self.config.hidden_size, self.config.rms_norm_eps)

    def product(self, x: str, name: str, inputs: int, outputs: int, *, biased: bool = False) -> str:
        """x [..., inputs] -> [..., outputs]."""
        return self._add_bias(self.linear_in_two(x, f"{name}.weight", inputs, outputs), name, outputs, biased=biased)

    def normed_product(self, x: str, norm: str, name: str, outputs: int, *, biased: bool = False) -> str:
        """x [..., d], scaled by a norm -> [..., outputs]."""
        width = self.config.hidden_size
        if not self.smooths:
            return self.product(self.norm(x, f"{norm}.weight"), name, width, outputs, biased=biased)
        normed = self.norm(x, f"{norm}.weight{SMOOTHED}")
        y = self.linear(normed, f"{name}.weight{SMOOTHED}", width, outputs)
        return self._add_bias(y, name, outputs, biased=biased)

    def _add_bias(self, y: str, name: str, outputs: int, *, biased: bool) -> str:
        return self.add("Add", y, self.weight(f"{name}.bias", outputs)) if biased else y

    def linear_in_two(self, x: str, name: str, inputs: int, outputs: int) -> str:
        """`linear`; in int8, x and what its rounding leaves are each rounded and multiplied.

        Some dimensions of these models are far larger than others: if x is rounded once, gains move by 1.0 nat in the
        mean; in two parts, by 0.3, most of it by the weights' rounding (profiles/LOG.md).
        """
        if not self.int8:
            return self.linear(x, name, inputs, outputs)
        digits, scales = self.weight(f"{name}.digits", inputs, outputs), self.weight(f"{name}.scales", outputs)
        rounded = self.add_parts("DynamicQuantizeLinear", x, parts=3)  # digits, scale, zero point
        first = self.add("MatMulIntegerToFloat", rounded[0], digits, rounded[1], scales, rounded[2], domain=CONTRIB)
        rest = self.add("Sub", x, self.add("DequantizeLinear", *rounded))
        return self.add("Add", first, self.linear(rest, name, inputs, outputs))

    def divide(self, x: str, axis: int, *sizes: int) -> list[str]:
        """Parts of these sizes along an axis."""
        return self.add_parts("Split", x, self.constant(sizes), parts=len(sizes), axis=axis)

    def grow(self, new: str) -> str:
        """Keys or values [B, T, G k], behind their past: [B, L, G k]."""
        past = self.add("Gather", "past", self.constant(len(self.read)), axis=0)
        self.read.append(self.add("Unsqueeze", new, self.constant([0])))
        return self.add("Concat", past, new, axis=1)

    def attend(self, x: str, name: str) -> str:
        """Grouped-query attention with rotary positions, and the norm before it [B, T, d] -> [B, T, d]."""
        c = self.config
        heads, groups, width = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        wide = (heads + 2 * groups) * width
        mixed = self.normed_product(x, f"{name}_norm", f"{name}.qkv", wide, biased=c.qkv_bias)
        turning, values = self.divide(mixed, -1, (heads + groups) * width, groups * width)
        turned = self.add(
            "RotaryEmbedding", turning, "positions", "cosines", "sines", domain=CONTRIB, num_heads=heads + groups,
            rotary_embedding_dim=0, interleaved=0,
        )  # fmt: skip
        queries, keys = self.divide(turned, -1, heads * width, groups * width)
        keys, values = (self.grow(each) for each in (keys, values))
        apart = [0, 0, groups, heads // groups, width]
        query = self.add("Transpose", self.add("Reshape", queries, self.constant(apart)), perm=[0, 2, 3, 1, 4])
        shared = self.constant([0, 0, groups, 1, width])
        key = self.add("Transpose", self.add("Reshape", keys, shared), perm=[0, 2, 3, 4, 1])  # [B, G, 1, k, L]
        value = self.add("Transpose", self.add("Reshape", values, shared), perm=[0, 2, 3, 1, 4])
        scores = self.add("MatMul", self.add("Mul", query, self.constant(width**-0.5)), key)  # [B, G, H / G, T, L]
        weights = self.add("Softmax", self.add("Add", scores, "mask"), axis=-1)
        attended = self.add("Transpose", self.add("MatMul", weights, value), perm=[0, 3, 1, 2, 4])
        joined = self.add("Reshape", attended, self.constant([0, 0, heads * width]))
        return self.product(joined, f"{name}.o", heads * width, c.hidden_size, biased=c.output_bias)

    def layer(self, x: str, name: str) -> str:
        """[B, T, d] -> [B, T, d]."""
        c = self.config
        x = self.add("Add", x, self.attend(x, f"{name}.attention"))
        norm, wide = f"{name}.feed_forward_norm", 2 * c.intermediate_size
        wide_states = self.normed_product(x, norm, f"{name}.wi", wide, biased=c.mlp_bias)
        gate, value = self.split(wide_states, 2)
        hidden = self.add("Mul", self.add("QuickGelu", gate, domain=CONTRIB, alpha=1.0), value)  # alpha 1: SiLU
        narrow = self.product(hidden, f"{name}.wo", c.intermediate_size, c.hidden_size, biased=c.mlp_bias)
        return self.add("Add", x, narrow)


def _read(g: CausalNodes) -> Any:
    c = g.config
    x = "x"
    for n in range(c.num_hidden_layers):
        x = g.layer(x, f"layers.{n}")
    g.name(g.norm(x, "norm.weight"), "hidden")
    g.name(g.add("Concat", *g.read, axis=0), "read")
    wide = c.num_key_value_heads * c.head_dim
    inputs: dict[str, Any] = {
        "x": ["B", "T", c.hidden_size],
        "positions": "BT",
        "cosines": ["P", c.head_dim // 2],
        "sines": ["P", c.head_dim // 2],
        "mask": ["B", 1, 1, "T", "L"],
        "past": [2 * c.num_hidden_layers, "B", "S", wide],
    }
    outputs = {"hidden": ["B", "T", c.hidden_size], "read": [2 * c.num_hidden_layers, "B", "T", wide]}
    return finish(g, "read", inputs, outputs)


def _normalise(g: CausalNodes) -> Any:
    from onnx import helper

    c = g.config
    name = "embedding.weight" if c.tie_word_embeddings else "output.weight"
    if g.int8:
        logits = g.linear_in_two("hidden", name, c.hidden_size, c.vocab_size)
    else:
        logits = g.add("Gemm", "hidden", g.weight(name, c.vocab_size, c.hidden_size), transB=1)
    # a logit minus its log p; ReduceLogSumExp takes several times as long as LogSoftmax
    first, of_first = (g.add("Gather", each, g.constant(0), axis=-1) for each in (logits, g.add("LogSoftmax", logits)))
    g.name(g.add("Sub", first, of_first), "total")
    most = g.constant([min(LIKELIEST, c.vocab_size)])
    g.nodes.append(helper.make_node("TopK", [logits, most], ["largest", "tokens"], axis=-1))
    outputs = {"total": ["N"], "largest": ["N", "K"], "tokens": "NK"}
    return finish(g, "normalise", {"hidden": ["N", c.hidden_size]}, outputs)
