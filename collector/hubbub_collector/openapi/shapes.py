"""JSON Schema, as the descriptions use it."""

from __future__ import annotations

from typing import Any


def object_of(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """An object with these properties and no others; all of them are required unless said otherwise."""
    return {
        "type": "object", "properties": properties, "additionalProperties": False,
        "required": list(properties) if required is None else required,
    }  # fmt: skip


def array(*items: dict[str, Any]) -> dict[str, Any]:
    """An array of exactly these."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def bin_of(least: int, most: int | None = None) -> dict[str, Any]:
    """A bin of ``least`` to ``most`` bytes: a string whose characters stand for bytes."""
    shape = {"type": "string", "contentMediaType": "application/octet-stream", "minLength": least}
    return shape if most is None else {**shape, "maxLength": most}
