"""Puts two calibrated mechanisms together to one record (Fanti, Pihur, Erlingsson, PoPETs 2016, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hubbub_client.mechanisms.joint import PARTS, SIDES
from hubbub_registry.calibration import Calibrated, Field

__all__ = ["PARTS", "SIDES", "Half", "together"]


class Half(NamedTuple):
    """One part as it was calibrated."""

    mechanism: str
    calibrated: Calibrated


def together(halves: Sequence[Half]) -> Calibrated:
    """The plan's integers and the layout of both parts, under names that begin with their side.

    The second part begins at a whole byte, so that either part's records can be read as what they are.
    """
    parameters: dict[str, int] = {}
    fields: list[Field] = []
    for side, half in zip(SIDES, halves, strict=True):
        padding = -sum(field.bits for field in fields) % 8
        if padding:
            fields.append(Field("padding", padding, 1))
        parameters[f"{side}mechanism"] = PARTS.index(half.mechanism)
        parameters |= {f"{side}{name}": value for name, value in half.calibrated.parameters.items()}
        fields += [Field(f"{side}{field.name}", field.bits, field.domain) for field in half.calibrated.fields]
    return Calibrated(parameters, tuple(fields))
