"""Coverage-guided fuzzing with atheris (Linux, Python 3.11 to 3.13): `pip install atheris`, then

    python tests/fuzz/fuzz.py sentences --seconds 3600 --corpus found/

Bytes that break the target are written to crash-... beside where it runs; `python tests/fuzz/fuzz.py sentences FILE`
runs one of them again. What reaches new code is kept in the corpus folder and tried first the next time.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("file", nargs="*", help="bytes to try instead of fuzzing")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--corpus", default="", help="folder of bytes that reach different code")
    args = parser.parse_args()
    import atheris

    sys.path.insert(0, str(Path(__file__).parents[1]))  # support
    needs_torch = args.target in ("path", "http")
    for heavy in ("numpy", "sentencepiece", *(("torch", "safetensors") if needs_torch else ())):  # slow to instrument
        __import__(heavy)
    with atheris.instrument_imports(include=["edit_gec"]):
        import targets

        if args.target == "http":
            targets.client()
    target = targets.TARGETS[args.target]
    for name in args.file:
        target(Path(name).read_bytes())
    if args.file:
        return
    folder = args.corpus or f"{os.environ.get('TMPDIR', '/tmp')}/fuzz-{args.target}-{os.getpid()}"
    os.makedirs(folder, exist_ok=True)
    for n, seed in enumerate(targets.SEEDS[args.target]):
        (Path(folder) / f"seed-{n}").write_bytes(seed)
    target(targets.SEEDS[args.target][0])  # loads what is loaded late
    limits = [f"-max_total_time={args.seconds}", "-max_len=2000", "-timeout=60", "-rss_limit_mb=6000"]
    atheris.Setup([sys.argv[0], *limits, folder], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
