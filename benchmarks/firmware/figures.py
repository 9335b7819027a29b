"""The figures, each measured under both interpreters and held against its bound."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hubbub_firmware.build.flash import flash_image

from benchmarks.firmware import bundles, interpreter
from tests.registries import registry_of

KIB = 1024
# Metrics as a board would have them: Apple's sketch at its published width, and the RAPPOR of its paper.
METRICS: dict[str, dict[str, Any]] = {
    "emoji": {"mechanism": "hadamard-count-mean-sketch", "hashes": 1024, "width": 1024},
    "app": {"mechanism": "rappor", "bits": 128},
    "switch": {"mechanism": "hadamard-response"},
}
FRAME_BYTES = 11  # the least that LoRaWAN carries
HEAP = "96k"
HEAP_OF_ALL = "400k"  # the image of the flash is in it


@dataclass(frozen=True)
class Figure:
    """Bytes under each interpreter, or None; ``bound`` is for 64 bits, and None where there is none to keep."""

    name: str
    x64: int
    bits32: int | None
    bound: int | None = None

    @property
    def kept(self) -> bool:
        """Whether the bound holds."""
        return self.bound is None or self.x64 <= self.bound

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "kept": self.kept}


Both = tuple[Mapping[str, int], Mapping[str, int]]


def all_figures(folder: Path, reports: int) -> list[Figure]:
    """All of them, measured in ``folder``; nothing may be left of ``reports`` reports."""
    (folder / "lib.romfs").write_bytes(flash_image(interpreter.compile_library(folder)))
    write_plans(folder)

    def both(program: str, heap: str, *arguments: str) -> Both:
        return interpreter.unix(folder, program, arguments, heap), interpreter.webassembly(folder, program, arguments)

    in_flash = interpreter.unix(folder, "reporter.py", ["plans/both.json"], HEAP_OF_ALL, "lib.romfs")
    return [
        *_metric_figures(both, reports),
        *_together_figures(both),
        Figure("the same, run from flash with ROMFS, held", in_flash["held"], None),
    ]


def bundled(folder: Path) -> list[Figure]:
    """The same programs as bundles: what each step leaves, what is held, and what is in use at the fullest moment."""
    figures = [Figure(name, held, None) for name, held in bundles.steps_of(folder, "parts", HEAP_OF_ALL).items()]
    for program, way, bound in (("parts", "by parts", 40 * KIB), ("reporter", "under a Reporter", None)):
        steps, fullest, bits32 = bundles.measured(folder, bundles.compile_bundle(folder, program), HEAP)
        figures += [
            Figure(f"{way} as a bundle: all steps, held", steps["held"], bits32, bound),
            Figure(f"{way} as a bundle, at the fullest moment", fullest, None, bound),
        ]
    return figures


def peaks(folder: Path) -> list[Figure]:
    """The least heaps, where ``all_figures`` made byte code and plans before."""
    one = interpreter.least_heap(folder, "one_metric.py", ["plans/emoji.json", "emoji", "a smile", "100", "peak"])
    everything = interpreter.least_heap(folder, "reporter.py", ["plans/both.json", "peak"])
    return [
        Figure("the least heap for one HCMS metric", one, None),
        Figure("the least heap for all under a Reporter", everything, None),
        *[Figure(f"the least heap for {name} as a bundle", size, None) for name, size in bundles.least(folder).items()],
    ]


def write_plans(folder: Path) -> None:
    """In ``plans``: a plan of each metric alone, and one of RAPPOR and HCMS together."""
    (folder / "plans").mkdir()
    for name, metrics in {**{name: [name] for name in METRICS}, "both": ["emoji", "app"]}.items():
        registry = registry_of(folder, **{metric: METRICS[metric] for metric in metrics})
        (folder / "plans" / f"{name}.json").write_text(json.dumps(registry.document))


def _metric_figures(both: Callable[..., Both], reports: int) -> list[Figure]:
    sketch = both("one_metric.py", HEAP, "plans/emoji.json", "emoji", "a smile", str(reports))
    rappor = both("one_metric.py", HEAP, "plans/app.json", "app", "a browser", str(reports))
    response = both("one_metric.py", HEAP, "plans/switch.json", "switch", "a", "1")

    def figure(name: str, measured: Both, label: str, bound: int | None = None) -> Figure:
        return Figure(name, measured[0][label], measured[1][label], bound)

    # One collection inside the loop, the other around each step of the program, so only the first can be held to 0.
    left = sketch[0]["after"] - sketch[0]["before"], rappor[0]["after"] - rappor[0]["before"]
    return [
        figure("import and one HCMS metric, held", sketch, "held", 24 * KIB),
        figure("import and one 128-bit RAPPOR metric, held", rappor, "held"),
        figure("an HCMS report, allocated", sketch, "report", 12 * KIB),
        figure("a 128-bit RAPPOR report, allocated", rappor, "report", 24 * KIB),
        Figure(f"{reports:,} HCMS reports, held", left[0], sketch[1]["after"] - sketch[1]["before"], 0),
        Figure(f"{reports:,} RAPPOR reports, held", left[1], rappor[1]["after"] - rappor[1]["before"], 0),
        figure("an HCMS report as a frame", sketch, "frame", FRAME_BYTES),
        figure("a Hadamard response as a frame", response, "frame", FRAME_BYTES),
    ]


def _together_figures(both: Callable[..., Both]) -> list[Figure]:
    return [
        Figure(name, measured[0]["held"], measured[1]["held"])
        for name, measured in (
            ("RAPPOR, HCMS, ledger, entropy, HTTP by parts, held", both("parts.py", HEAP_OF_ALL, "plans/both.json")),
            ("RAPPOR, HCMS, entropy, HTTP under a Reporter, held", both("reporter.py", HEAP_OF_ALL, "plans/both.json")),
        )
    ]
