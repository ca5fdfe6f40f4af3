"""Products by oneDNN: the same as torch's, used where they may be and nowhere else."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F

from edit_gec.modeling import onednn
from edit_gec.modeling.onednn import MIN_PRODUCTS, Linear, can_use_onednn, has_native_dtype, linear

EVER_NEW_SHAPES = """
import ctypes
import torch
from edit_gec.modeling.onednn import has_native_dtype, Linear

class Info(ctypes.Structure):
    _fields_ = [(str(n), ctypes.c_size_t) for n in range(10)]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
torch.set_num_threads(1)
layer = Linear(256, 768, bias=False)
with torch.inference_mode():
    for rows in range(64, 264):
        layer(torch.ones(rows, 256))
        if rows in (163, 263):
            print(getattr(libc.mallinfo2(), "7"))  # bytes in use
"""
SHAPES = [(1, 2048, 768), (3, 768, 2304), (25, 256, 704), (2, 4, 4)]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.mark.parametrize(("rows", "width", "out"), SHAPES)
@pytest.mark.parametrize("bias", [False, True])
def test_as_near_to_the_truth_as_torch_is(rows: int, width: int, out: int, bias: bool) -> None:
    x, layer = torch.randn(2, rows, width), Linear(width, out, bias=bias)
    with torch.inference_mode():
        exact = F.linear(x.double(), layer.weight.double(), None if layer.bias is None else layer.bias.double())
        torchs = float((F.linear(x, layer.weight, layer.bias) - exact).abs().max())
        ours = layer(x)
    assert ours.shape == (2, rows, out) and ours.dtype == torch.float32
    assert float((ours - exact).abs().max()) <= max(6 * torchs, 1e-6)  # MKL is closer on Intel


def test_parts_of_a_tensor_and_no_rows_at_all() -> None:
    layer = Linear(512, 2048, bias=False)
    with torch.inference_mode():
        x = torch.randn(6, 8, 512)
        torch.testing.assert_close(layer(x[::2, 1]), F.linear(x[::2, 1].contiguous(), layer.weight))
        torch.testing.assert_close(layer(x.transpose(0, 1)), F.linear(x.transpose(0, 1), layer.weight))
        assert layer(x[:0]).shape == (0, 8, 2048)


@pytest.mark.skipif(not onednn.onednn_is_faster(), reason="no AVX-512 here")
@pytest.mark.parametrize(("row_by_mkl", "counts"), [(False, (3, 2)), (True, (1, 4))])
def test_where_it_is_used(row_by_mkl: bool, counts: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "mkl_is_faster_for_a_row", lambda: row_by_mkl)
    x, layer = torch.randn(4, 512), Linear(512, 512, bias=False)
    weight = layer.weight.detach()
    assert weight.numel() * 4 == MIN_PRODUCTS and not can_use_onednn(x, weight), "gradients are computed here"
    with torch.no_grad():
        assert can_use_onednn(x, weight)
        assert not can_use_onednn(x.bfloat16(), weight.bfloat16()) and not can_use_onednn(x.double(), weight.double())
        with torch.autocast("cpu", torch.bfloat16):
            assert not can_use_onednn(x, weight) and linear(x, layer).dtype == torch.bfloat16
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
            linear(x, layer)
            linear(x[:1], layer)  # too small in training, where no copy is kept
            linear(x[:1], layer.eval())
            linear(x[:1], Linear(512, 128).eval())  # too small for one row
            linear(x[:1], torch.nn.Embedding(4096, 512).eval())
    names = [event.name for event in seen.events()]
    assert (names.count("mkldnn::_linear_pointwise"), names.count("aten::linear")) == counts


def test_gradients_are_torchs() -> None:
    x, layer = torch.randn(8, 512), Linear(512, 512)
    layer(x).square().sum().backward()
    assert layer.weight.grad is not None
    torch.testing.assert_close(layer.weight.grad, 2 * (layer(x).detach().T @ x), rtol=1e-4, atol=1e-3)


@pytest.mark.skipif(not onednn.onednn_is_faster(), reason="no AVX-512 here")
def test_layers_keep_a_copy_that_follows_them() -> None:
    x, layer, narrow = torch.randn(200, 1024), Linear(1024, 512).eval(), Linear(512, 512, bias=False).eval()
    with torch.no_grad():
        for rows in (5, 200):
            exact = F.linear(x[:rows], layer.weight, layer.bias)
            torch.testing.assert_close(layer(x[:rows]), exact, rtol=1e-4, atol=1e-4)
            copy = onednn.packed_weight(layer, layer.weight)
            assert copy.is_mkldnn and onednn.packed_weight(layer, layer.weight) is copy
            layer.weight.mul_(2)  # as an optimizer does
        layer.load_state_dict(Linear(1024, 512).state_dict())
        torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias))
        narrow(x[:, :512])
        assert layer in onednn._packed_weights and narrow not in onednn._packed_weights, "many rows need none"
        torch.testing.assert_close(narrow(x[:5, :512]), F.linear(x[:5, :512], narrow.weight))
        assert narrow in onednn._packed_weights
        other = Linear(1024, 512)
        other(x)
        assert other not in onednn._packed_weights, "it is being trained"


@pytest.mark.skipif(not onednn.onednn_is_faster(), reason="no AVX-512 here")
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="no glibc from 2.33 on"
)
def test_ever_new_shapes_do_not_fill_the_memory() -> None:
    """In a process of its own, where nothing is kept yet: a hundred shapes more take nothing; unbounded, 27 MB."""
    fresh = {name: value for name, value in os.environ.items() if name not in onednn.CACHED_SHAPES}
    printed = subprocess.check_output([sys.executable, "-c", EVER_NEW_SHAPES], env=fresh, text=True)
    before, after = map(int, printed.split())
    assert after - before < 2**21


def test_importing_sets_no_environment_variables() -> None:
    code = "import os; before = dict(os.environ); import edit_gec.modeling.edit5; print(dict(os.environ) == before)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_processor_computes_in_what_it_has_instructions_for(dtype: torch.dtype) -> None:
    """The CPU's answer is oneDNN's, which generates the code; a GPU's is not asked for."""
    expected = {
        torch.bfloat16: torch.ops.mkldnn._is_mkldnn_bf16_supported,
        torch.float16: torch.ops.mkldnn._is_mkldnn_fp16_supported,
    }.get(dtype, lambda: True)()
    assert has_native_dtype(dtype) == expected and has_native_dtype(dtype, "cuda")
