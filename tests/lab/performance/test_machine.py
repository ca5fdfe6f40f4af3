"""What a result file says of the machine."""

from __future__ import annotations

import json
import sys

import pytest
import torch

from edit_gec.lab.performance.machine import WIDE, describe, slug


def test_it_can_be_written_and_names_a_folder() -> None:
    found = describe()
    assert json.loads(json.dumps(found)) == found
    assert slug(found["name"]) == found["name"] != ""
    assert found["versions"]["torch"] == torch.__version__ and found["cores"] >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc/cpuinfo")
@pytest.mark.parametrize("capability", ["AVX2", "AVX512"])
def test_instructions_are_those_that_torch_finds(capability: str) -> None:
    if torch.backends.cpu.get_cpu_capability() not in ("DEFAULT", "AVX2", "AVX512"):
        pytest.skip("not an x86 processor")
    found = describe()["instructions"]
    assert set(found) <= set(WIDE)
    has = torch.backends.cpu.get_cpu_capability() in ("AVX512", capability)
    assert ({"AVX2": "avx2", "AVX512": "avx512f"}[capability] in found) == has
