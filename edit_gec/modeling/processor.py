"""The instruction sets of this processor."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

BYTE_PRODUCTS = ("avx512_vnni", "avx_vnni")  # of x86; AVX2 alone saturates when it adds such products
BYTE_PRODUCTS_ARM = ("asimddp",)


@cache
def multiplies_bytes() -> bool:
    """Whether products of bytes are exact, and several times as fast as those of float32.

    Linux says what there is; every Mac with Apple silicon has them. Elsewhere nothing is known, and the answer is no.
    """
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    flags = read_flags()
    return any(name in flags for name in (*BYTE_PRODUCTS, *BYTE_PRODUCTS_ARM))


def read_flags() -> frozenset[str]:
    """The features that Linux reports for the first core ("avx2", "asimddp", ...); empty on other systems."""
    return frozenset(read_entry("flags").split() or read_entry("Features").split())


def read_entry(name: str) -> str:
    """An entry of /proc/cpuinfo for the first core, or an empty string."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == name)
    return next(found, "")
