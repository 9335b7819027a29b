"""A board from its start to its last upload, with everything around it made up: all that it stores, sends and says.

Arguments: LIBRARY FOLDER, where the plan, the settings and the programs of benchmarks/firmware are. What is printed is
the same each time, on each interpreter.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Time:
    """In place of the module ``time``, as boards have it: nothing waits."""

    @staticmethod
    def time() -> int:
        return 1800000000

    @staticmethod
    def gmtime(_: int) -> "tuple[int, ...]":
        return (1970, 1, 1, 0, 0, 0, 3, 1)

    @staticmethod
    def ticks_ms() -> int:
        return 0

    @staticmethod
    def ticks_diff(later: int, earlier: int) -> int:
        return later - earlier

    @staticmethod
    def sleep_ms(milliseconds: int) -> None:
        pass


sys.modules["time"] = Time  # type: ignore[assignment]
sys.path.insert(0, sys.argv[1])
sys.path.insert(1, sys.argv[2])

import stand_ins  # noqa: E402 - in place of the network, before anything asks for it

from hubbub_firmware.loop import run  # noqa: E402

OK = b"HTTP/1.1 200 OK\r\nDate: Fri, 15 Jan 2027 08:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
LATER = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7000\r\nContent-Length: 4\r\n\r\nbusy"
BAD = b"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n"
GARBAGE = b"SSH-2.0-OpenSSH_9.7\r\n"
sent: "list[bytes]" = []


class Socket(stand_ins._Socket):
    """Keeps what it is given, and answers as the case says."""

    answer = OK

    def __init__(self, *_: object) -> None:
        self._left = Socket.answer

    def write(self, data: bytes) -> int:
        sent.append(bytes(data))
        return len(data)

    def sendall(self, data: bytes) -> None:
        sent.append(bytes(data))


class Stuck(stand_ins.Noise):
    """Noise that is none."""

    def sample(self, count: int) -> bytes:
        return bytes(count)


class Board:
    """What a board's module has."""

    NAME = "made up"
    PLATFORM = sys.platform

    def __init__(self, noise: "Any", storage: "Any") -> None:
        self._noise = noise
        self._storage = storage

    def raw_source(self) -> "Any":
        return self._noise

    def storage(self) -> "Any":
        return self._storage

    def connect(self, settings: object) -> None:
        pass

    def device(self) -> bytes:
        return b"a board"


def tell(storage: "Any") -> None:
    for name in sorted(storage.names()):
        print(name, storage.read(name).hex())
    print("sent", b"".join(sent).hex())
    sent.clear()


def start(what: str, storage: "Any", noise: "Any", readings: "list[tuple[str, object]]", now: int) -> None:
    print("==", what, run(Board(noise, storage), lambda: readings, sys.argv[2] + "/", rounds=1, clock=lambda: now))
    tell(storage)


stand_ins._Network.socket = Socket
values = [("app", "a browser"), ("emoji", "a smile"), ("emoji", 10**300), ("app", b"\xff"), ("other", "a"), ("app", 1)]
storage = stand_ins.Storage()
noise = stand_ins.Noise()
now = stand_ins.NOW
for answer in (OK, LATER, BAD, GARBAGE, OK):
    Socket.answer = answer
    start("a day", storage, noise, values, now)
    now += 86400
start("a clock that went back", storage, noise, values, stand_ins.NOW)
start("a clock of 1970", storage, noise, values, 5)
start("the noise of the first boot", storage, stand_ins.Noise(), values, now)
start("no noise", storage, Stuck(), values, now)
old = storage.read("ledger") or b""
start("a later day", storage, noise, values, now)
storage.write("ledger", old)
start("an older ledger", storage, noise, values, now + 86400)
storage.write("ledger", old[:-1] + b"?")
start("a damaged ledger", storage, noise, values, now + 172800)
storage.remove("ledger")
start("a lost ledger", storage, noise, values, now + 172800)
