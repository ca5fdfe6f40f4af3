"""The machine and the software of a measurement. A timing means nothing without them.

>>> describe()["name"]                                                                 # doctest: +SKIP
'amd-epyc-9r14-2-cores'
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edit_gec.modeling.processor import read_entry, read_flags

WIDE = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16")  # instructions that matter for products
PACKAGES = ("torch", "transformers", "ctranslate2", "sentencepiece", "numpy")


def describe(device: str = "cpu", packages: Sequence[str] = PACKAGES, threads: int | None = None) -> dict[str, Any]:
    """Plain values for a result file. `name` is that of the processor with its cores, or of the GPU."""
    processor = _processor()
    gpu = _gpu(device)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "name": slug(gpu or f"{processor} {cores} cores"),
        "processor": processor,
        "instructions": _instructions(),
        "cores": cores,
        **({"threads": threads} if threads else {}),
        "memory_bytes": _memory(),
        **({"gpu": gpu} if gpu else {}),
        "system": platform.platform(terse=True),
        "load": [round(n, 2) for n in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {name: version for name in packages if (version := _version(name))},
        "commit": _commit(),
    }


def slug(name: str) -> str:
    """The folder name for a machine.

    >>> slug("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz 4 cores")
    'intel-xeon-platinum-8375c-4-cores'
    """
    name = re.sub(r"\((?:R|TM|C)\)|\bCPU\b|\bProcessor\b|@\s*[\d.]+\s*GHz|\b\d+-Core\b", " ", name, flags=re.IGNORECASE)
    return "-".join(re.findall(r"[a-z0-9]+", name.lower())) or "machine"


def _processor() -> str:
    return read_entry("model name") or platform.processor() or platform.machine()


def _instructions() -> list[str]:
    """Which of WIDE the processor has; cloud machines of one name differ in them."""
    flags = read_flags()
    return [name for name in WIDE if name in flags]


def _gpu(device: str) -> str:
    if not device.startswith("cuda"):
        return ""
    import torch

    return torch.cuda.get_device_name(device)


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit of the checkout around this file, with + if files are changed; empty outside a checkout."""
    here = Path(__file__).resolve().parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
            cwd=here, capture_output=True, text=True, check=False, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
