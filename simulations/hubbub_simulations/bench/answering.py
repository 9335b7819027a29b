"""Times a peer's tasks in the peer's own environment, on request: one JSON object a line in, one out.

``python -P answering.py SERVE.py``, where the script has ``TASKS``: for each name what prepares a call and returns it.
Request ``{"task": NAME, "number": N}``, answer ``{"seconds": S}``: the processor's seconds for one call, over N calls
in a row, after one that is not timed. The caller asks again and again, in turn with its own measurements, so that both
meet the same machine. Nothing but the standard library is there.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
import timeit
from collections.abc import Callable


def main() -> None:
    """Answers requests until the input ends."""
    tasks: dict[str, Callable[[], Callable[[], object]]] = runpy.run_path(sys.argv[1])["TASKS"]
    ready: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name, number = request["task"], request["number"]
        if name not in ready:
            ready[name] = tasks[name]()
            ready[name]()
        seconds = timeit.timeit(ready[name], timer=time.process_time, number=number) / number
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
