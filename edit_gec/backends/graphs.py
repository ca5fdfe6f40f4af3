"""An EdiT5 as four ONNX graphs without weights: `build` makes them from the shape of a model.

    encode       ids, bias                          -> encoded, tag_logits
    point        encoded, tags                      -> scores
    encode_plan  encoded, tags, ranks, bias         -> anchors, cross_keys, cross_values
    decode       stream, anchored, ... past keys    -> log_probabilities, keys, values

Opset 17, and operators of ONNX Runtime: with standard ones a layer takes a fifth longer. B sentences, S source
positions, R rows of the decoder, T new and L past positions, C places whose output is requested, H heads, k head width,
d model width, V vocabulary. Weights are external initializers that carry their names in the safetensors file: `X` in
float32 with its rows as columns [K, N], or, with precision int8, `X.digits` [K, N] and `X.scales` [N]. Biases by
position are looked up by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edit_gec.errors import ModelError

if TYPE_CHECKING:
    from edit_gec.modeling.config import EdiT5Config

OPSET = 17
IR_VERSION = 9
CONTRIB = "com.microsoft"  # the domain of ONNX Runtime's own operators


class Nodes:
    """Nodes of one graph; values are named by number."""

    def __init__(self, *, int8: bool = False) -> None:
        self.int8 = int8
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.weights: dict[str, tuple[int, ...]] = {}
        self._count = 0

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append a node with one output; returns the name of that."""
        from onnx import helper

        self._count += 1
        output = f"v{self._count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], domain=domain, **attributes))
        return output

    def add_parts(self, kind: str, *inputs: str, parts: int, **attributes: Any) -> list[str]:
        """Append a node with several outputs; returns their names."""
        from onnx import helper

        self._count += 1
        names = [f"v{self._count}_{n}" for n in range(parts)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def name(self, value: str, output: str) -> None:
        """Give a value the name of an output of the graph."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [output]))

    def constant(self, value: float | Sequence[int]) -> str:
        """A float32 number, or a list of int64."""
        array = np.array(value, np.float32 if isinstance(value, float) else np.int64)
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def weight(self, name: str, *shape: int) -> str:
        """A tensor of the model folder, in float32."""
        self.weights[name] = shape
        return name

    def linear(self, x: str, name: str, inputs: int, outputs: int) -> str:
        """x [..., inputs] -> [..., outputs], without bias. In int8 one scale rounds all of x."""
        if not self.int8:
            return self.add("MatMul", x, self.weight(name, inputs, outputs))
        digits = self.weight(f"{name}.digits", inputs, outputs)
        scales = self.weight(f"{name}.scales", outputs)
        return self.add("DynamicQuantizeMatMul", x, digits, scales, domain=CONTRIB)

    def linear_by_row(self, x: str, name: str, inputs: int, outputs: int) -> str:
        """The same where rows differ in size by orders of magnitude: in int8 each has a scale of its own."""
        if not self.int8:
            return self.linear(x, name, inputs, outputs)
        largest = self.add("ReduceMax", self.add("Abs", x), axes=[-1], keepdims=1)
        largest = self.add("Max", largest, self.constant(float(np.finfo(np.float32).tiny)))  # a row may be all 0
        return self.add("Mul", self.linear(self.add("Div", x, largest), name, inputs, outputs), largest)

    def scale_by_rms(self, x: str, name: str, width: int, epsilon: float) -> str:
        """Scale by the root mean square [..., width]."""
        weight = self.weight(name, width)
        return self.add("SimplifiedLayerNormalization", x, weight, axis=-1, epsilon=epsilon, stash_type=1)

    def split(self, x: str, parts: int) -> list[str]:
        """[..., parts * n] -> `parts` values [..., n]."""
        return self.add_parts("Split", x, parts=parts, axis=-1)


class GraphBuilder(Nodes):
    """Nodes of a graph of an EdiT5."""

    def __init__(self, config: EdiT5Config, *, int8: bool = False) -> None:
        super().__init__(int8=int8)
        self.config = config

    def norm(self, x: str, name: str) -> str:
        """Scale by the root mean square [..., d]."""
        return self.scale_by_rms(x, name, self.config.d_model, self.config.layer_norm_epsilon)

    def split_heads(self, x: str, parts: int) -> list[str]:
        """[B, T, parts * H * k] -> `parts` values [B, H, T, k]."""
        c = self.config
        apart = self.add("Reshape", x, self.constant([0, 0, parts, c.num_heads, c.d_kv]))
        turned = self.add("Transpose", apart, perm=[2, 0, 3, 1, 4])  # [parts, B, H, T, k]
        return [
            self.add("Squeeze", self.add("Slice", turned, *map(self.constant, ([n], [n + 1], [0]))), self.constant([0]))
            for n in range(parts)
        ]

    def attend(self, x: str, heads: Sequence[str], bias: str, name: str) -> str:
        """Residual input x [B, T, d]; heads: queries [B, H, T, k], keys and values [B, H, S, k]; bias [B, H, T, S]."""
        c = self.config
        query, keys, values = heads
        scores = self.add("MatMul", query, self.add("Transpose", keys, perm=[0, 1, 3, 2]))
        scores = self.add("Add", self.add("Mul", scores, self.constant(float(c.attention_scale))), bias)
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), values)  # [B, H, T, k]
        inner = c.num_heads * c.d_kv
        joined = self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant([0, 0, inner]))
        return self.add("Add", x, self.linear(joined, f"{name}.o.weight", inner, c.d_model))

    def feed_forward(self, x: str, name: str) -> str:
        """[B, T, d] -> [B, T, d]."""
        c = self.config
        width = c.d_ff * (2 if c.gated else 1)
        hidden = self.linear(self.norm(x, f"{name}.norm.weight"), f"{name}.wi.weight", c.d_model, width)
        if c.gated:
            gate, value = self.split(hidden, 2)
            hidden = self.add("Mul", self.add("FastGelu", gate, domain=CONTRIB), value)
        else:
            hidden = self.add("Relu", hidden)
        # The first and the last position have values that are up to thirty times as large as those of words. With one
        # scale for all positions, rounding here would move the tags three times as far as it does.
        return self.add("Add", x, self.linear_by_row(hidden, f"{name}.wo.weight", c.d_ff, c.d_model))

    def encoder_layer(self, x: str, bias: str, name: str) -> str:
        """[B, S, d] -> [B, S, d]; bias [B, H, S, S]."""
        c = self.config
        inner = c.num_heads * c.d_kv
        normed = self.norm(x, f"{name}.attention.norm.weight")
        parts = self.split(self.linear(normed, f"{name}.attention.qkv.weight", c.d_model, 3 * inner), 3)
        mixed = self.add(
            "MultiHeadAttention", *parts, "", "", bias, domain=CONTRIB, num_heads=c.num_heads, scale=c.attention_scale
        )
        x = self.add("Add", x, self.linear(mixed, f"{name}.attention.o.weight", inner, c.d_model))
        return self.feed_forward(x, f"{name}.feed_forward")


def build(config: EdiT5Config, *, int8: bool = False) -> dict[str, Any]:
    """The four graphs of a model as ONNX ModelProtos, by name. int8 products are in `encode` and `encode_plan` only.

    Raises ModelError for more than one decoder layer: EdiT5 has one.
    """
    if config.num_decoder_layers != 1:
        raise ModelError(f"{config.num_decoder_layers} decoder layers; expected one, as an EdiT5 has")
    return {
        "encode": _encode(GraphBuilder(config, int8=int8)),
        "point": _point(GraphBuilder(config)),
        "encode_plan": _encode_plan(GraphBuilder(config, int8=int8)),
        "decode": _decode(GraphBuilder(config)),
    }


def _encode(g: GraphBuilder) -> Any:
    c = g.config
    x = g.add("Gather", g.weight("embedding.weight", c.vocab_size, c.d_model), "ids", axis=0)
    for n in range(c.num_layers):
        x = g.encoder_layer(x, "bias", f"encoder.layers.{n}")
    encoded = g.norm(x, "encoder.norm.weight")
    tagged = g.norm(g.encoder_layer(encoded, "bias", "tag_layer"), "tag_norm.weight")
    product = g.add("MatMul", tagged, g.weight("tag_head.weight", c.d_model, 4))
    g.name(encoded, "encoded")
    g.name(g.add("Add", product, g.weight("tag_head.bias", 4)), "tag_logits")
    inputs = {"ids": "BS", "bias": ["B", c.num_heads, "S", "S"]}
    return finish(g, "encode", inputs, {"encoded": ["B", "S", c.d_model], "tag_logits": ["B", "S", 4]})


def _point(g: GraphBuilder) -> Any:
    """Scores [B, S, S] before the bias by distance: piece m is followed by piece j."""
    c = g.config
    tagged = g.add("Add", "encoded", g.add("Gather", g.weight("tag_embedding.weight", 4, c.d_model), "tags", axis=0))
    query, key = (
        g.add(
            "Add",
            g.add("MatMul", tagged, g.weight(f"{name}.weight", c.d_model, c.point_width)),
            g.weight(f"{name}.bias", c.point_width),
        )
        for name in ("point_query", "point_key")
    )
    product = g.add("MatMul", query, g.add("Transpose", key, perm=[0, 2, 1]))
    g.name(g.add("Mul", product, g.constant(float(c.point_width**-0.5))), "scores")
    return finish(g, "point", {"encoded": ["B", "S", c.d_model], "tags": "BS"}, {"scores": ["B", "S", "S"]})


def _encode_plan(g: GraphBuilder) -> Any:
    """What the decoder attends to, and what it adds to the input of a slot that is anchored at a piece."""
    c = g.config
    tagged = g.add("Add", "encoded", g.add("Gather", g.weight("tag_embedding.weight", 4, c.d_model), "tags", axis=0))
    ranked = g.add("GreaterOrEqual", "ranks", g.constant([0]))  # deleted pieces have no rank
    table = g.weight("rank_embedding.weight", c.slots, c.d_model)
    position = g.add("Gather", table, g.add("Max", "ranks", g.constant([0])), axis=0)
    shown = g.add("Unsqueeze", g.add("Cast", ranked, to=1), g.constant([2]))  # [B, S, 1] float32
    marked = g.add("Add", tagged, g.add("Mul", position, shown))
    states = g.norm(g.encoder_layer(marked, "bias", "memory_layer"), "memory_norm.weight")
    width = 2 * c.num_heads * c.d_kv
    keys, values = g.split_heads(g.linear(states, "decoder.layers.0.cross.kv.weight", c.d_model, width), 2)
    anchors = g.add("MatMul", states, g.weight("anchor.weight", c.d_model, c.d_model))
    for value, output in ((anchors, "anchors"), (keys, "cross_keys"), (values, "cross_values")):
        g.name(value, output)
    heads = ["B", c.num_heads, "S", c.d_kv]
    hidden = ["B", "S", c.d_model]
    inputs = {"encoded": hidden, "tags": "BS", "ranks": "BS", "bias": ["B", c.num_heads, "S", "S"]}
    return finish(g, "encode_plan", inputs, {"anchors": hidden, "cross_keys": heads, "cross_values": heads})


def _decode(g: GraphBuilder) -> Any:
    c = g.config
    layer = "decoder.layers.0"
    inner = c.num_heads * c.d_kv
    table = g.weight("embedding.weight", c.vocab_size, c.d_model)
    anchored = g.add("Unsqueeze", "anchored", g.constant([1]))  # [R, 1, d]
    x = g.add("Add", g.add("Gather", table, "stream", axis=0), anchored)  # [R, T, d]
    normed = g.norm(x, f"{layer}.attention.norm.weight")
    query, new_keys, new_values = g.split_heads(
        g.linear(normed, f"{layer}.attention.qkv.weight", c.d_model, 3 * inner), 3
    )
    keys = g.add("Concat", "past_keys", new_keys, axis=2)
    values = g.add("Concat", "past_values", new_values, axis=2)
    x = g.attend(x, [query, keys, values], "self_bias", f"{layer}.attention")
    normed = g.norm(x, f"{layer}.cross.norm.weight")
    (query,) = g.split_heads(g.linear(normed, f"{layer}.cross.q.weight", c.d_model, inner), 1)
    source = [g.add("Gather", name, "sentence", axis=0) for name in ("cross_keys", "cross_values")]  # [R, H, S, k]
    x = g.attend(x, [query, *source], "cross_bias", f"{layer}.cross")
    hidden = g.norm(g.feed_forward(x, f"{layer}.feed_forward"), "decoder.norm.weight")
    chosen = g.add("Mul", g.add("GatherND", hidden, "at"), g.constant(float(c.d_model**-0.5)))  # [C, d]
    logits = g.add("MatMul", chosen, g.add("Transpose", table, perm=[1, 0]))
    for value, output in (
        (g.add("LogSoftmax", logits, axis=-1), "log_probabilities"),
        (keys, "keys"),
        (values, "values"),
    ):
        g.name(value, output)
    source_heads = ["B", c.num_heads, "S", c.d_kv]
    past = ["R", c.num_heads, "L", c.d_kv]
    inputs: dict[str, Any] = {
        "stream": "RT",
        "anchored": ["R", c.d_model],
        "sentence": "R",
        "at": ["C", 2],
        "cross_keys": source_heads,
        "cross_values": source_heads,
        "cross_bias": ["R", c.num_heads, 1, "S"],
        "self_bias": [1, c.num_heads, "T", "LT"],
        "past_keys": past,
        "past_values": past,
    }
    grown = ["R", c.num_heads, "LT", c.d_kv]
    return finish(g, "decode", inputs, {"log_probabilities": ["C", c.vocab_size], "keys": grown, "values": grown})


def finish(g: Nodes, name: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
    """The ModelProto of a graph; inputs whose shape is a string of letters are int64, `at` too, others float32."""
    from onnx import TensorProto, helper, numpy_helper

    def describe(name: str, shape: Any) -> Any:
        whole = isinstance(shape, str) or name == "at"
        return helper.make_tensor_value_info(name, TensorProto.INT64 if whole else TensorProto.FLOAT, list(shape))

    weights = [_external(name, shape) for name, shape in g.weights.items()]
    constants = [numpy_helper.from_array(array, name) for name, array in g.constants.items()]
    graph = helper.make_graph(
        g.nodes,
        name,
        [describe(*entry) for entry in inputs.items()],
        [describe(*entry) for entry in outputs.items()],
        [*constants, *weights],
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="edit-gec")
    model.ir_version = IR_VERSION
    return model


def _external(name: str, shape: tuple[int, ...]) -> Any:
    """A weight that the caller of ONNX Runtime hands in."""
    from onnx import TensorProto

    tensor = TensorProto()
    tensor.name = name
    tensor.data_type = TensorProto.INT8 if name.endswith(".digits") else TensorProto.FLOAT
    tensor.dims.extend(shape)
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key = "location"
    entry.value = "model.safetensors"
    return tensor


def external_names(model: Any) -> list[str]:
    """The weights that a graph takes from its caller, in order."""
    from onnx import TensorProto

    return [t.name for t in model.graph.initializer if t.data_location == TensorProto.EXTERNAL]
