"""A bounded load on one loopback address: wrk where it is installed, else raw sockets on uvloop."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

_HEAD = "POST /v1/reports HTTP/1.1\r\nHost: {}\r\nContent-Type: application/msgpack\r\nContent-Length: {}\r\n\r\n"
_LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/msgpack"
local at, ready = 0, {}
function init(args)
  local file = io.open(args[1], "rb")
  while true do
    local body = file:read(tonumber(args[2]))
    if body == nil then break end
    ready[#ready + 1] = wrk.format(nil, nil, nil, body)
  end
end
function request()
  at = at % #ready + 1
  return ready[at]
end
"""


@dataclass(frozen=True)
class Load:
    """What a run measured: answers with 200 a second, the 99th percentile in milliseconds, and other answers."""

    rate: float
    p99_ms: float
    refused: int


def generator() -> str:
    """The load generator that ``load`` uses."""
    return "wrk" if shutil.which("wrk") else "sockets"


def load(url: str, bodies: list[bytes], connections: int, seconds: float) -> Load:
    """Posts ``bodies`` (all of one length) round and round to ``url`` over ``connections`` for ``seconds``."""
    if generator() == "wrk":
        return _wrk(url, bodies, connections, seconds)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_sockets(url, bodies, connections, seconds))


def _wrk(url: str, bodies: list[bytes], connections: int, seconds: float) -> Load:
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder, "post.lua"), Path(folder, "bodies")
        script.write_text(_LUA)
        data.write_bytes(b"".join(bodies))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--latency", "-s", str(script)]
        command += [f"{url}/v1/reports", "--", str(data), str(len(bodies[0]))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", said)[1])  # type: ignore[index]
    value, unit = re.search(r"99%\s+([0-9.]+)(us|ms|s)", said).groups()  # type: ignore[union-attr]
    refused = re.search(r"Non-2xx or 3xx responses: ([0-9]+)", said)
    return Load(rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit], int(refused[1]) if refused else 0)


async def _sockets(url: str, bodies: list[bytes], connections: int, seconds: float) -> Load:
    address = urlsplit(url)
    requests = [_HEAD.format(address.netloc, len(body)).encode() + body for body in bodies]
    times: list[float] = []
    refused = 0
    end = time.perf_counter() + seconds

    async def post(at: int) -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        while (began := time.perf_counter()) < end:
            writer.write(requests[at % len(requests)])
            at += connections
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"Content-Length: ([0-9]+)", head)[1]))  # type: ignore[index]
            if head.startswith(b"HTTP/1.1 200"):
                times.append(time.perf_counter() - began)
            else:
                refused += 1
        writer.close()

    await asyncio.gather(*[post(at) for at in range(connections)])
    times.sort()
    return Load(len(times) / seconds, 1000 * times[int(0.99 * len(times))], refused)
