"""A bounded load test of `edit-gec serve` on loopback: one client, then many, each with an address of its own.

    python profiles/serve/load.py > profiles/serve/load.json

Texts have 1 to 40 sentences; every sentence holds a number that no other has, so that nothing comes from the cache and
an answer that belongs to somebody else shows. Half the requests are LanguageTool's, half ours. The last line on
standard output is the result; figures of 64 clients are to be read as ratios to those of one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

PROSE = Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt"
SIZES = (1, 1, 1, 2, 3, 5, 8, 40)  # sentences in a text


class Texts:
    """Texts without end: sentences of the samples with a slip and a number that is used once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sentences = [s for s in re.split(r"(?<=[.!?])\s+", PROSE.read_text(encoding="utf-8")) if s.endswith(".")]
        self.number = 100_000

    def next(self) -> str:
        """The next text."""
        return " ".join(self._sentence() for _ in range(self.random.choice(SIZES)))

    def _sentence(self) -> str:
        self.number += 1
        words = self.random.choice(self.sentences)[:-1].split()
        words[self.random.randrange(len(words))] = self.random.choice(("teh", "go", "the the", "informations", "have"))
        return f"{' '.join(words)} {self.number}."


def resident_mb(pid: int) -> float:
    """Memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return round(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024, 1)  # type: ignore[index]


async def ask(client: httpx.AsyncClient, text: str, ours: bool) -> str:
    """The corrected text that the server gives, put together from its edits."""
    while True:
        if ours:
            answer = await client.post("/v1/correct", json={"text": text})
        else:
            answer = await client.post("/v2/check", data={"text": text, "language": "en"})
        if answer.status_code not in (429, 503):
            break
        await asyncio.sleep(float(answer.headers["retry-after"]))
    answer.raise_for_status()
    if ours:
        edits = [(e["start"], e["end"], e["replacement"]) for e in answer.json()["edits"]]
    else:
        found = answer.json()["matches"]
        edits = [(m["offset"], m["offset"] + m["length"], m["replacements"][0]["value"]) for m in found]
    out, done = [], 0
    for start, end, replacement in edits:  # the samples are in the basic plane: code points are UTF-16 units
        out += [text[done:start], replacement]
        done = end
    return "".join([*out, text[done:]])


async def one_client(url: str, number: int, texts: Texts, until: float) -> list[dict[str, Any]]:
    """Requests one after the other until the time is over."""
    transport = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{number + 1}")
    done = []
    async with httpx.AsyncClient(base_url=url, transport=transport, timeout=120) as client:
        while time.monotonic() < until:
            text = texts.next()
            begun = time.monotonic()
            corrected = await ask(client, text, ours=len(done) % 2 == 0)
            wanted, got = (re.findall(r"\d{6}", each) for each in (text, corrected))
            size = len(wanted)
            done.append({"s": time.monotonic() - begun, "sentences": size, "right": wanted == got})
    return done


async def phase(url: str, pid: int, clients: int, texts: Texts, seconds: float) -> dict[str, Any]:
    """So many clients for so long."""
    begun = time.monotonic()
    lists = await asyncio.gather(*(one_client(url, n, texts, begun + seconds) for n in range(clients)))
    took = time.monotonic() - begun
    answers = [answer for each in lists for answer in each]
    one = sorted(answer["s"] for answer in answers if answer["sentences"] == 1)
    every = sorted(answer["s"] for answer in answers)
    return {
        "clients": clients,
        "seconds": round(took, 1),
        "requests": len(answers),
        "mixed_up_or_lost": sum(not answer["right"] for answer in answers),
        "sentences_a_second": round(sum(answer["sentences"] for answer in answers) / took, 1),
        "p50_s": round(statistics.median(every), 3),
        "p95_s": round(every[int(0.95 * len(every))], 3),
        "p95_s_of_one_sentence": round(one[int(0.95 * len(one))], 3),
        "fewest_and_most_of_a_client": [min(map(len, lists)), max(map(len, lists))],
        "memory_mb": resident_mb(pid),
    }


async def measure(url: str, pid: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Warm-up, one client, many, many again for the memory."""
    texts = Texts(seed=1)
    await phase(url, pid, 1, texts, 3)
    return [await phase(url, pid, clients, texts, args.seconds) for clients in (1, args.clients, args.clients)]


def main() -> None:
    """Run the server and the test; the result is printed as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--model", default="edit5-mini")
    args = parser.parse_args()
    command = [sys.executable, "-m", "edit_gec", "serve", "--port", "0", "--quiet"]
    command += ["--threads", args.threads, "--model", args.model]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            phases = asyncio.run(measure(server.stderr.readline().split()[1], server.pid, args))
        finally:
            server.terminate()
    one, many = phases[:2]
    ratios = {name: round(many[name] / one[name], 2) for name in ("sentences_a_second", "p50_s", "p95_s")}
    machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    machine["load"] = [round(load, 1) for load in os.getloadavg()]
    result = {"machine": machine, "threads": args.threads, "phases": phases, "many_to_one": ratios}
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
