"""The answers other than success, by the status and the stable codes of each; docs/wire.md says what they mean."""

from __future__ import annotations

from typing import Any

RETRIED = (408, 429, 500, 503, 507)
"""Statuses with Retry-After: the same request may succeed later."""

ANYWHERE: dict[int, tuple[str, ...]] = {
    400: ("not-http",),
    405: ("method",),
    408: ("head-too-slow",),
    431: ("head-too-large",),
    500: ("internal",),
    503: ("connections", "stopping"),
}
"""What every address may answer."""

HEALTH: dict[int, tuple[str, ...]] = {503: ("store",)}

BODY: dict[int, tuple[str, ...]] = {
    400: ("body-broken", "gone"),
    401: ("token-missing", "token-unknown"),
    408: ("too-slow",),
    413: ("too-large",),
    415: ("media-type", "content-encoding"),
    429: ("rate",),
    503: ("arriving-full",),
}
"""What every address with a body may answer."""

REPORTS: dict[int, tuple[str, ...]] = {
    400: (
        "not-msgpack", "upload-shape", "upload-version", "upload-id", "upload-batches", "batch-shape",
        "batch-fingerprint", "batch-period", "batch-records", "record-length", "record-range", "period-too-early",
        "period-too-late", "metric-expired", "quarantine-full", "token-cap",
    ),
    403: ("token-scope",),
    503: ("queue-full", "disk-budget", "store"),
    507: ("disk-full",),
}  # fmt: skip

TROUBLES: dict[int, tuple[str, ...]] = {400: ("not-json", "troubles-shape", "troubles-reason", "troubles-count")}

SEALED: dict[int, tuple[str, ...]] = {
    400: (
        "not-msgpack", "sealed-shape", "sealed-version", "sealed-id", "sealed-key", "sealed-ciphertexts",
        "ciphertext-size", "key-unknown",
    ),
    401: ("shuffler-unknown",),
    503: ("queue-full", "disk-budget", "store"),
    507: ("disk-full",),
}  # fmt: skip

_SAID = {
    400: "Not well-formed: it will be refused again",
    401: "A token is asked for, and none that is known came",
    403: "The token is not for all of it",
    405: "Another method; Allow names the right one",
    408: "It did not arrive in time",
    413: "The body is over the limit",
    415: "Another media type, or a compressed body",
    429: "Too many requests",
    431: "The head of the request is too large",
    500: "A defect of the collector; nothing was stored",
    503: "Nothing was stored, and it is not the client's fault",
    507: "The collector's disk is full; nothing was stored",
}


def refusals(*tables: dict[int, tuple[str, ...]]) -> dict[str, Any]:
    """The responses, by status, that ``tables`` together allow."""
    codes: dict[int, list[str]] = {}
    for table in tables:
        for status, some in table.items():
            codes.setdefault(status, []).extend(some)
    return {str(status): _response(status, sorted(codes[status])) for status in sorted(codes)}


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"error": {"enum": codes}, "detail": {"type": "string"}},
        "required": ["error", "detail"],
        "additionalProperties": False,
    }
    headers: dict[str, Any] = {}
    if status in RETRIED:
        headers["Retry-After"] = {
            "description": "Seconds",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        }
    if status == 401:
        headers["WWW-Authenticate"] = {"required": True, "schema": {"const": "Bearer"}}
    if status == 405:
        headers["Allow"] = {"required": True, "schema": {"enum": ["GET", "POST"]}}
    response = {"description": _SAID[status], "content": {"application/json": {"schema": schema}}}
    return {**response, "headers": headers} if headers else response
