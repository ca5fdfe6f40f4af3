"""Whatever a process allows, verified products are float32; what it allows is as it was, afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
import torch
from support.tiny_t5 import random_target

from edit_gec.modeling.precision import exact_products
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.decode import verify
from edit_gec.speculative.drafters import TextDrafter

NEWER = """
import torch
from edit_gec.modeling.precision import exact_products
torch.backends.cuda.matmul.fp32_precision = "tf32"
for _ in range(2):
    with exact_products():
        print(torch.backends.cuda.matmul.fp32_precision)
    print(torch.backends.cuda.matmul.fp32_precision)
"""
LEGACY = pytest.mark.parametrize("allowed", ["highest", "high", "medium"])


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")


@LEGACY
def test_the_choice_of_the_process_returns(allowed: str) -> None:
    torch.set_float32_matmul_precision(allowed)
    with exact_products():
        assert torch.get_float32_matmul_precision() == "highest"
        with exact_products():
            pass
        assert torch.get_float32_matmul_precision() == "highest"
    assert torch.get_float32_matmul_precision() == allowed


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="torch before 2.9")
def test_the_newer_switches_return() -> None:
    """In a process of its own: torch refuses a process that uses both kinds."""
    done = subprocess.run(
        [sys.executable, "-c", NEWER], capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2]
    )
    assert (done.stdout.split(), done.stderr) == (["ieee", "tf32", "ieee", "tf32"], "")


def test_it_returns_after_the_last_thread() -> None:
    torch.set_float32_matmul_precision("high")
    both = Barrier(2)

    def work() -> str:
        with exact_products():
            both.wait()
            return torch.get_float32_matmul_precision()

    with ThreadPoolExecutor(2) as pool:
        assert [each.result() for each in [pool.submit(work) for _ in range(2)]] == ["highest", "highest"]
    assert torch.get_float32_matmul_precision() == "high"


@LEGACY
def test_verification_is_exact_whatever_is_allowed(allowed: str, tokens: Tokens) -> None:
    target = random_target(tokens, 3)
    sentences = ["She go home.", "the the the the"]
    expected = target.generate(sentences)
    torch.set_float32_matmul_precision(allowed)
    assert target.generate(sentences) == verify(target, TextDrafter(tokens), sentences)[0] == expected
