"""Which operations a call executes, in order, as the interpreter sees them: its instructions, one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

Operation = tuple[str, int]
WATCHED = ("hubbub_client", "tests.client.timing.leaky")


def operations(call: Callable[[], object], watched: Collection[str] = WATCHED) -> list[Operation]:
    """(function, offset) of every instruction that ``call`` executes in the modules ``watched`` and those below them.

    C functions, such as those of big integers, of HMAC and of dictionaries, are one instruction: the call.
    """
    seen: list[Operation] = []

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "call":
            module = str(frame.f_globals.get("__name__", ""))
            if not any(f"{module}.".startswith(f"{name}.") for name in watched):
                return None
            frame.f_trace_lines = False
            frame.f_trace_opcodes = True
        elif event == "opcode":
            seen.append((frame.f_code.co_qualname, frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


class Source:
    """A byte source that hands out ``noise`` and writes down how many bytes it was asked for, each time."""

    def __init__(self, noise: Callable[[int], bytes]) -> None:
        self._noise = noise
        self.asked: list[int] = []

    def __call__(self, count: int) -> bytes:
        self.asked.append(count)
        return self._noise(count)
