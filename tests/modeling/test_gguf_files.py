"""GGUF files: what the package `gguf` writes and reads is what this reader reads; damage is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import brief
from support.tiny_causal import make_oracle, save_gguf

from edit_gec.errors import ModelError
from edit_gec.modeling.gguf_files import KINDS, Stored, read_gguf_file

pytest.importorskip("gguf")

QUANTISED = [name for name, weights, _ in KINDS.values() if weights > 1]
WRITTEN = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]  # those that the package can write


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    save_gguf(path, make_oracle(hidden_size=64, intermediate_size=96, num_attention_heads=4), "Q4_1")
    return path


def test_it_reads_what_the_package_reads(file: Path) -> None:
    from gguf import GGUFReader

    reader: Any = GGUFReader(file)
    values, tensors = read_gguf_file(file)
    assert values == {name: each.contents() for name, each in reader.fields.items() if not name.startswith("GGUF.")}
    assert list(tensors) == [tensor.name for tensor in reader.tensors]
    for tensor in reader.tensors:
        assert tensors[tensor.name].kind == tensor.tensor_type.name
        assert np.array_equal(tensors[tensor.name].data, tensor.data)


@pytest.mark.parametrize("kind", WRITTEN)
def test_tensors_of_all_kinds_have_the_values_of_the_package(tmp_path: Path, kind: str) -> None:
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import dequantize, quantize

    rows = np.random.default_rng(0).normal(size=(3, 5, 64)).astype(np.float32)
    stored = GGMLQuantizationType[kind]
    writer: Any = GGUFWriter(tmp_path / "one.gguf", "llama")
    writer.add_tensor("rows", quantize(rows, stored), raw_dtype=stored)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()
    read = read_gguf_file(tmp_path / "one.gguf").tensors["rows"]
    assert read.kind == kind and np.array_equal(read.dense(), dequantize(quantize(rows, stored), stored))


@pytest.mark.parametrize("kind", QUANTISED)
def test_any_bytes_have_the_values_of_the_package(kind: str) -> None:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    (size,) = (size for name, _, size in KINDS.values() if name == kind)
    data = np.random.default_rng(0).integers(0, 120, (4, 3 * size)).astype(np.uint8)  # halves that are numbers
    wanted = dequantize(data, GGMLQuantizationType[kind])
    assert wanted.shape[0] == 4 and np.array_equal(Stored(data, kind).dense(), wanted)


@brief
@given(st.data())
def test_a_damaged_file_is_one_line_or_another_file(file: Path, data: st.DataObject) -> None:
    """Cut off anywhere, or with other bytes in its header."""
    whole = file.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, 400))
    bytes_ = data.draw(st.binary(min_size=1, max_size=8))
    damaged = whole[:at] + bytes_ + whole[at + len(bytes_) :]
    for content in (whole[:cut], damaged):
        path = file.with_name("damaged.gguf")
        path.write_bytes(content)
        try:
            read_gguf_file(path)
        except ModelError as error:
            assert "\n" not in str(error) and str(path) in str(error)
        else:
            assert len(content) == len(whole)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((0, b"GGML"), "it begins with b'GGML'"),
        ((4, b"\0\0\0\3"), "version 50331648"),
        ((16, b"\xff" * 8), "cut off|unpack|decode"),
    ],
)
def test_what_is_no_such_file_is_refused(file: Path, change: tuple[int, bytes], reason: str) -> None:
    whole = file.read_bytes()
    at, written = change
    path = file.with_name("other.gguf")
    path.write_bytes(whole[:at] + written + whole[at + len(written) :])
    with pytest.raises(ModelError, match=f"not a whole GGUF file .*({reason})"):
        read_gguf_file(path)
    with pytest.raises(ModelError, match="no such file"):
        read_gguf_file(file.with_name("none.gguf"))
