"""What a check found, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def figures_text(figures: Mapping[str, Any]) -> str:
    """A few lines; the first says whether it fits."""
    heap = figures["heap_bytes"]
    if not figures["fits"]:
        return f"{figures['board']}: does not work with {_kib(heap)} of heap: {figures['problem']}"
    lines = [
        f"{figures['board']}: works with {_kib(heap)} of heap; it takes {_kib(figures['peak_heap'])} at its peak, "
        f"{_kib(figures['heap_after_import'])} after the imports",
        "With the library in flash, where its code takes no heap."
        if figures["frozen"]
        else "With the library in heap.",
        "On this machine, with pointers of 64 bits: a board of 32 bits takes less. TLS is not in it.",
        "",
        f"{'metric':24} {'report':>12} {'record':>10} {'upload':>10}",
    ]
    for name, metric in figures["metrics"].items():
        time = f"{metric['microseconds'] / 1000:.1f} ms"
        lines.append(f"{name:24} {time:>12} {metric['record_bytes']:>8} B {metric['upload_bytes']:>8} B")
    if figures["readings_problem"]:
        lines += ["", f"of what main.py reads: {figures['readings_problem']}"]
    return "\n".join(lines)


def _kib(size: int) -> str:
    return f"{size / 1024:.1f} KiB"
