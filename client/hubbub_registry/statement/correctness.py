"""How values are randomised, why the printed epsilon is the true one, and where the random numbers come from."""

from __future__ import annotations

from hubbub_registry.metric import Metric
from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Subheading, Table, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.mechanisms import Words, words_of
from hubbub_registry.statement.wording import DECIMALS, count
from hubbub_registry.summary.for_people import decimal_up

_EXACT = (
    "Every probability on a device is a whole number over a power of two. So the largest factor by which the "
    "probability of any report can differ between two values is a ratio of two integers; it is given below, and "
    "epsilon is its logarithm, rounded up. The tests of hubbub enumerate all that each encoder can send, at small "
    "sizes, and find the ratio that this gives.",
    "Devices compute in integers only. The rounding errors of floating point numbers, through which noise has leaked "
    "values elsewhere, cannot arise.",
    "The noise of a report takes a number of random bytes that does not depend on the value, and the encoders make no "
    "decision that does. Python's own arithmetic does not run in constant time, so somebody who can measure a device "
    "very finely, or its power, may still learn something.",
)
_RANDOMNESS: tuple[tuple[Text, ...], ...] = (
    (
        "Linux, macOS, Windows (CPython)",
        ("the operating system's cryptographic generator, through ", Code("os.urandom")),
        "Where it fails, no report is made.",
    ),
    (
        "Microcontrollers (MicroPython)",
        (Code("os.urandom"), " of the port, whatever stands behind it"),
        "The figures hold only where that is unpredictable, and this version of hubbub does not check it. On the "
        "RP2040 it is not a cryptographic generator; on STM32 a failing source can give zeros; on ESP32 the radio "
        "must be on.",
    ),
    (
        "An app that brings its own source",
        "what the app passes in",
        "It must be cryptographic and impossible to seed. hubbub cannot check it.",
    ),
)


def correctness(facts: Facts) -> Section:
    """Mechanisms, exact ratios, random numbers, versions, and how to check all of it."""
    blocks: list[Block] = [Bullets(_EXACT)]
    for metric in facts.metrics:
        blocks += mechanism_of(metric)
    blocks += [
        Subheading("Random numbers"),
        Table("Where a device's random numbers come from", ("Platform", "Source", "What to know"), _RANDOMNESS),
        Subheading("Versions, and how to check this page"),
        Table(
            "What this page describes",
            ("What", "Which"),
            (
                ("hubbub", Code(facts.version)),
                ("Plan (SHA-256 of the JSON file)", Code(facts.plan_sha256)),
                ("Checked on", str(facts.day)),
            ),
        ),
        Bullets(
            (
                (
                    Code("hubbub compile REGISTRY.toml -o plan.json"),
                    " writes the plan. Devices that hold a file with the SHA-256 above run what is described here. "
                    "Each report names the definition it was made under, by its fingerprint, and no other is ever "
                    "decoded.",
                ),
                (
                    Code("hubbub check REGISTRY.toml --json"),
                    " prints the same figures, to more places, and every exact ratio.",
                ),
            )
        ),
    ]
    return Section("How it works, and why the figures are right", "correctness", tuple(blocks))


def mechanism_of(metric: Metric) -> list[Block]:
    """What one metric's mechanism does, with its exact numbers."""
    words = words_of(metric)
    parameters = [f"{name} {value}" for name, value in sorted(metric.device.parameters.items())]
    return [
        Subheading((Code(metric.name), f": {words.title}")),
        Paragraph(" ".join([words.report, words.noise, *_again(words, metric)])),
        Table(
            ("The exact figures of ", Code(metric.name)),
            ("What", "Figure"),
            (
                ("Mechanism", (Code(metric.mechanism), f" ({words.source})")),
                (
                    "Largest ratio of probabilities",
                    (Code(str(metric.ratio.numerator)), " / ", Code(str(metric.ratio.denominator))),
                ),
                ("Epsilon of one report, from it", decimal_up(metric.exact_epsilon, DECIMALS)),
                ("Epsilon that the registry declares, at most", decimal_up(metric.epsilon, DECIMALS)),
                ("Integers in the plan", Code(", ".join(parameters))),
                ("Size of a report", count(metric.device.record_bytes, "byte")),
                ("Fingerprint of the definition", Code(metric.fingerprint.hex())),
            ),
        ),
    ]


def _again(words: Words, metric: Metric) -> list[str]:
    """What happens when a value is reported again, where the mechanism leaves it open."""
    again = words.fresh if metric.permanent_ratio is None else words.permanent
    return [again] if again else []
