"""A running server under attack: `python tests/attack/server.py --requests 10000 --connections 200`

Starts `edit-gec serve` on a free port and sends it malformed requests, other names and origins, bodies that are too
long or never come, silent connections and many different texts. In between, an honest client must be answered. Prints
counts of statuses, the memory of the process before and after, and what the log holds; status 1 where the server dies,
answers 5xx to a request of the client's fault, or logs a text.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlencode

import httpx
import psutil  # type: ignore[import-untyped]

from edit_gec.cli.serve import GRACE_S

ROOT = Path(__file__).parent.parent.parent
WORDS = (ROOT / "data" / "samples" / "prose.txt").read_text(encoding="utf-8").split()
SECRET = "secretsecret"
GREEDY = ["teh cat, ", "I dont know it and ", "lol i dunno wat u mean tbh but ok ill chek it "]
MOST_WAIT_S = 5.0
MALFORMED = [
    b"",
    b"\0" * 1000,
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 2_000_000 + b"\r\n\r\n",
    b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n",
    b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /\r\nX: {secret} HTTP/1.1\r\nHost: localhost\r\n\r\n".replace(b"{secret}", SECRET.encode()),
    b"GET /%0d%0a" + SECRET.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
]
BODIES = [
    ("/v1/correct", "application/json", b"["  * 100_000),
    ("/v1/correct", "application/json", b'{"text": ' + b'"a' * 50_000),
    ("/v1/correct", "application/json", b'{"text": "' + b"\\ud800" * 1000 + b'"}'),
    ("/v1/correct", "application/json", b'{"text": "a", "min_confidence": NaN}'),
    ("/v1/correct", "application/json", b'{"text": "a", "min_confidence": 1e999}'),
    ("/v1/correct", "application/json", b'{"text": 5}'),
    ("/v1/correct", "application/json", b"\xff\xfe\x00"),
    ("/v2/check", "application/x-www-form-urlencoded", b"a=1&" * 100_000),
    ("/v2/check", "application/x-www-form-urlencoded", b"language=en&data=" + b"%7B" * 100_000),
    ("/v2/check", "application/x-www-form-urlencoded", b"language=en&text=%ff%fe"),
    ("/v2/check", "multipart/form-data; boundary=x", b"--x\r\n" * 10_000),
    ("/v2/check", "application/x-www-form-urlencoded", b"language=en&text=" + b"a" * 3_000_000),
]  # fmt: skip


class Attack:
    """One server, and what it answered."""

    def __init__(self, port: int, process: psutil.Process) -> None:
        self.place, self.process = ("127.0.0.1", port), process
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self.failed = False

    def report(self, name: str, statuses: Counter[str]) -> None:
        bad = [status for status in statuses if status.startswith("5")]
        honest = self.client.post("/v1/correct", json={"text": "She go home.", "explain": False}).status_code
        self.failed |= bool(bad) or honest != 200
        counts = ", ".join(f"{count:,} x {status}" for status, count in sorted(statuses.items()))
        print(f"{name}: {counts}; an honest client after it: {honest}", flush=True)

    def send(self, data: bytes, wait_s: float = 3) -> str:
        """The status of what raw bytes are answered with."""
        with suppress(OSError), socket.create_connection(self.place, timeout=wait_s) as connection:
            with suppress(OSError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            found = re.match(rb"HTTP/1.1 (\d+)", connection.recv(100))
            return found[1].decode() if found else "closed"
        return "closed"

    def malformed(self) -> None:
        self.report("malformed HTTP", Counter(self.send(data) for data in MALFORMED))

    def bodies(self) -> None:
        found = Counter(
            str(self.client.post(path, content=body, headers={"content-type": kind}).status_code)
            for path, kind, body in BODIES
        )
        self.report("malformed bodies", found)

    def strangers(self) -> None:
        headers = [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}]
        found = Counter(
            str(self.client.post("/v2/check", data={"language": "en", "text": "a"}, headers=each).status_code)
            for each in headers
        )
        self.failed |= set(found) != {"403"}
        self.report("other names and origins", found)

    def silent(self, connections: int) -> None:
        """So many connections that say nothing, or begin a body and stop."""
        slow = b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\na"
        with ExitStack() as opened:
            for n in range(connections):
                connection = opened.enter_context(socket.create_connection(self.place, timeout=40))
                connection.sendall(slow if n < 10 else b"GET / HT" if n % 2 else b"")
            begun = time.monotonic()
            status = self.client.get("/v2/healthcheck").status_code
            print(f"{connections} slow connections: another client got {status} in {time.monotonic() - begun:.2f} s")
            time.sleep(25)
            left = sum(each.status == "ESTABLISHED" for each in self.process.net_connections())
        self.failed |= status != 200
        self.report(f"{connections} slow connections, {left} of them left after 25 s", Counter())

    def unread(self, readers: int) -> None:
        """So many clients that ask for long answers and read nothing of them; how long another client waits."""
        with ExitStack() as opened:
            for n in range(readers):
                body = urlencode({"language": "en", "text": f"Number {n}. " + "She go home becuase its late. " * 600})
                connection = opened.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                connection.connect(self.place)
                head = f"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
                kind = "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
                connection.sendall((head + kind + body).encode())
            waits = []
            for n in range(10):
                begun = time.monotonic()
                text = {"text": f"She go home without number {n}.", "explain": False}
                self.failed |= self.client.post("/v1/correct", json=text).status_code != 200
                waits.append(time.monotonic() - begun)
                time.sleep(8)
            left = sum(each.status == "ESTABLISHED" for each in self.process.net_connections())
        print(f"{readers} clients that read nothing, {left} of them left after 80 s")
        print(f"  another client: after {max(waits):.2f} s at most; {self.process.memory_info().rss >> 20} MB")

    def ask_greedily(self, unit: str) -> str:
        """The status of a text of 99,999 characters whose words must all be looked up."""
        fields = {"language": "en", "text": (unit * 12_000)[:99_999]}
        with suppress(httpx.HTTPError):
            return str(self.client.post("/v2/check", data=fields, timeout=100).status_code)
        return "closed"

    def greedy(self, requests: int) -> None:
        """So many long texts of unknown words at once; how long another client waits meanwhile."""
        waits: list[float] = []
        with ThreadPoolExecutor(requests) as pool:
            asked = [pool.submit(self.ask_greedily, unit) for unit in GREEDY * requests][:requests]
            time.sleep(1)
            while not all(each.done() for each in asked):
                begun = time.monotonic()
                text = {"text": f"She go home number {len(waits)}.", "explain": True, "suggest": True}
                status = self.client.post("/v1/correct", json=text).status_code
                waits.append(time.monotonic() - begun)
                self.failed |= status != 200
                time.sleep(0.2)
        found = Counter(each.result() for each in asked)
        self.failed |= max(waits) > MOST_WAIT_S
        memory = self.process.memory_info().rss >> 20
        counts = ", ".join(f"{count} x {status}" for status, count in found.items())
        median = sorted(waits)[len(waits) // 2]
        print(f"{requests} texts of 99,999 characters of unknown words: {counts}; {memory} MB")
        print(f"  another client: {len(waits)} answers, after {median:.2f} s in the median, {max(waits):.2f} s at most")

    def end_under_load(self, requests: int) -> float:
        """Seconds from SIGTERM to the end while so many long texts are being corrected."""
        with ThreadPoolExecutor(requests) as pool:
            for _ in range(requests):
                pool.submit(self.ask_greedily, GREEDY[0])
            time.sleep(2)
            begun = time.monotonic()
            self.process.terminate()
            with suppress(psutil.TimeoutExpired):
                self.process.wait(60)
            self.process.kill() if self.process.is_running() else None
        return time.monotonic() - begun

    def many(self, requests: int) -> None:
        """So many different texts by eight clients at once."""

        def ask(n: int) -> str:
            chance = random.Random(n)
            text = f"{SECRET} " + " ".join(chance.choice(WORDS) for _ in range(chance.randrange(3, 30)))
            return str(self.client.post("/v1/correct", json={"text": text, "explain": False}).status_code)

        memory = []
        found: Counter[str] = Counter()
        with ThreadPoolExecutor(8) as pool:
            for begin in range(0, requests, max(1, requests // 10)):
                found.update(pool.map(ask, range(begin, min(requests, begin + max(1, requests // 10)))))
                memory.append(self.process.memory_info().rss >> 20)
        print(f"memory after each tenth of {requests:,} requests: {memory} MB")
        self.report(f"{requests:,} different texts", found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--greedy", type=int, default=6)
    parser.add_argument("--readers", type=int, default=12)
    parser.add_argument("--only", help="one of the attacks: malformed, bodies, strangers, silent, unread, many, greedy")
    parser.add_argument("--model", default="edit5-mini")
    arguments = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "edit_gec", "serve", "--port", "0", "--model", arguments.model, "--threads", "1"]
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen(command, stderr=log) as server:
        try:
            port = 0
            while not port and server.poll() is None:
                time.sleep(0.2)
                log.seek(0)
                found = re.search(r"http://127.0.0.1:(\d+)/", log.read())
                port = int(found[1]) if found else 0
            attack = Attack(port, psutil.Process(server.pid))
            attacks: dict[str, Callable[[], None]] = {
                "malformed": attack.malformed,
                "bodies": attack.bodies,
                "strangers": attack.strangers,
                "silent": lambda: attack.silent(arguments.connections),
                "unread": lambda: attack.unread(arguments.readers),
                "many": lambda: attack.many(arguments.requests),
                "greedy": lambda: attack.greedy(arguments.greedy),
            }
            for name, begin in attacks.items():
                if arguments.only in (None, name):
                    begin()
            died = server.poll() is not None
            ending = attack.end_under_load(arguments.greedy)
            attack.failed |= ending > GRACE_S
            print(f"SIGTERM with {arguments.greedy} long texts in progress: ended after {ending:.1f} s")
        finally:
            server.terminate()
            server.wait(30)
        log.seek(0)
        lines = log.read().splitlines()
    odd = [line for line in lines[1:] if not line.startswith("{") or not isinstance(json.loads(line), dict)]
    secrets = sum(SECRET in line for line in lines)
    tracebacks = sum("Traceback" in line for line in lines)
    print(f"log: {len(lines):,} lines, {len(odd)} that are no JSON, {secrets} that hold a text; died: {died}")
    print(f"  {tracebacks} tracebacks")
    for line in odd[:5]:
        print(f"  {line[:200]}")
    return int(attack.failed or died or secrets + tracebacks > 0)


if __name__ == "__main__":
    sys.exit(main())
