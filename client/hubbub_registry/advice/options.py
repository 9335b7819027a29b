"""What there is to choose from: mechanisms, at the sizes that are worth it, calibrated for one metric's epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.advice.error import floor_variance, rare_value_error
from hubbub_registry.calibration import CalibrationError, Field
from hubbub_registry.mechanisms import Settings, mechanism

# In the order of choice where two are as exact and as small: the simplest first.
_OF_A_LIST = (
    "randomized-response", "hadamard-response", "projective-geometry-response", "unary-encoding", "subset-selection",
)  # fmt: skip
# As many hash functions as a decoder goes through in a second for a thousand candidates, and a sketch of 64 MiB cells
# at most.
HASHES = 1 << 16
WIDTHS = (64, 128, 256, 512, 1024)
_OF_ANY_TEXT: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("local-hashing", {"hashes": HASHES}),
    *(("hadamard-count-mean-sketch", {"hashes": HASHES, "width": width}) for width in WIDTHS),
    *(("count-mean-sketch", {"hashes": HASHES, "width": width}) for width in WIDTHS),
)


@dataclass(frozen=True)
class Option:
    """A mechanism with its own TOML keys, the size of its records, and the standard error of a rare value.

    ``floor`` is the part of the error's square that no number of reports removes.
    """

    mechanism: str
    keys: Mapping[str, int]
    record_bytes: int
    error: float
    floor: float


def options(epsilon: Fraction, domain: int, reports: int) -> Iterator[Option]:
    """What can report values of a list of ``domain`` values, or of any text where that is 0, at this epsilon."""
    for name, chosen in _OF_ANY_TEXT if domain == 0 else [(name, {}) for name in _OF_A_LIST]:
        module = mechanism(name)
        filled = {key: chosen.get(key, kind.default) for key, kind in module.KEYS.items()}
        try:
            calibrated = module.calibrate(Settings(epsilon, filled, 0, domain))
        except CalibrationError:
            continue  # too many values for it
        error = rare_value_error(name, calibrated.parameters, reports)
        assert error is not None  # noqa: S101 - every one of the tables above has a formula
        yield Option(name, chosen, record_bytes(calibrated.fields), error, floor_variance(calibrated.parameters))


def record_bytes(fields: Iterable[Field]) -> int:
    """The bytes of a record of these fields."""
    return (sum(field.bits for field in fields) + 7) // 8
