"""Cold start and peak memory of one system, each in a process of its own.

    python -m edit_gec.lab.performance.cold_start SETUP.json "edit5" SENTENCES.txt

loads the system, corrects the first sentence (a line on standard output tells the parent to stop its clock), then all
sentences as one batch, and reports the peak memory of the process. The clock covers Python, imports, weights and one
sentence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

from edit_gec.errors import InputError
from edit_gec.lab.performance.setup import Setup
from edit_gec.lab.performance.timing import use_device


def start_system(system: str, setup: Setup, sentences: Sequence[str], work: Path) -> dict[str, Any]:
    """Seconds to the first corrected sentence, and peak bytes; `work` is a folder for what the process reads.

    Raises InputError when the process fails.
    """
    (work / "setup.json").write_text(setup.dumps(), encoding="utf-8")
    (work / "sentences.txt").write_text("\n".join(sentences), encoding="utf-8")
    command = [sys.executable, "-m", "edit_gec.lab.performance.cold_start", str(work / "setup.json"), system]
    with (work / "stderr.txt").open("w+", encoding="utf-8") as talk:
        begun = perf_counter()
        with subprocess.Popen(
            [*command, str(work / "sentences.txt")], stdout=subprocess.PIPE, stderr=talk, text=True,
            env=_environment(setup),
        ) as process:  # fmt: skip
            assert process.stdout is not None
            process.stdout.readline()
            first_s = perf_counter() - begun
            rest = process.stdout.read()  # communicate() would miss what readline has buffered
        talk.seek(0)
        said = talk.read().strip()
    if process.returncode:
        last = (said or "no message").splitlines()[-1]
        raise InputError(f"bench: {system} failed in a process of its own: {last}")
    return {"cold_start_s": first_s, **json.loads(rest)}


def start_command(setup: Setup, sentence: str, *, verified: bool = False) -> float:
    """Seconds that `edit-gec correct` takes for one sentence from its start to its end."""
    command = [sys.executable, "-m", "edit_gec", "correct", "--model", setup.model, "--threads", str(setup.threads)]
    command += ["--target", setup.target] if verified else []
    begun = perf_counter()
    done = subprocess.run(
        command, input=sentence + "\n", capture_output=True, text=True, encoding="utf-8", check=False,
        env=_environment(setup),
    )  # fmt: skip
    taken = perf_counter() - begun
    if done.returncode:
        raise InputError(f"bench: edit-gec correct failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return taken


def _environment(setup: Setup) -> dict[str, str]:
    """The environment of this process with the threads of the setup, and with this edit_gec on the path."""
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    search = os.pathsep.join(path for path in paths if path)
    return {**os.environ, "OMP_NUM_THREADS": str(setup.threads), "PYTHONPATH": search}


def peak_bytes() -> int:
    """Peak memory of this process and of its children (other programs), in bytes.

    Linux: VmHWM, because ru_maxrss starts with what the parent had.
    """
    try:
        own = os.getpid()
        children = Path(f"/proc/self/task/{own}/children").read_text(encoding="utf-8").split()
        return sum(_high_water(process) for process in [str(own), *children])
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _high_water(process: str) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def main(setup_file: str, name: str, sentences_file: str) -> None:
    """The child process."""
    from edit_gec.lab.performance import systems
    from edit_gec.lab.performance.setup import Pair

    setup = Setup.loads(Path(setup_file).read_text(encoding="utf-8"))
    use_device(setup.device)
    sentences = Path(sentences_file).read_text(encoding="utf-8").split("\n")
    system = systems.find_system(name, systems.list_systems(setup))
    with ExitStack() as stack:
        run = systems.build(system, Pair(setup), stack)
        run(sentences[:1])
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for batch in [sentences] if system.batches else [[sentence] for sentence in sentences]:
            run(batch)
    result = {"peak_bytes": peak_bytes()}
    if setup.device.startswith("cuda") and "torch" in sys.modules:
        import torch

        result["gpu_peak_bytes"] = torch.cuda.max_memory_allocated(setup.device)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
