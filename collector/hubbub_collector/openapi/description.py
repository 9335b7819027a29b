"""The addresses and what is sent to them."""

from __future__ import annotations

import json
from typing import Any

from hubbub_collector.body import JSON, MEDIA_TYPE
from hubbub_collector.openapi.answers import ANYWHERE, BODY, HEALTH, REPORTS, TROUBLES, refusals
from hubbub_collector.openapi.shapes import array, bin_of, object_of
from hubbub_collector.troubles import MAX_COUNT, REASONS
from hubbub_collector.upload import FINGERPRINT_BYTES, ID_BYTES, MAX_BATCHES, MAX_PERIOD, VERSION

PATH = "/openapi.json"
SECURITY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""A token is asked for only where the operator says so."""


def description() -> dict[str, Any]:
    """The whole description, new at each call."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hubbub collector",
            "version": str(VERSION),
            "summary": "Takes randomised reports and keeps them on stable storage",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/reports": {"post": _reports()},
            "/v1/troubles": {"post": _troubles()},
            "/healthz": {"get": health()},
            PATH: {"get": itself()},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def rendered() -> bytes:
    """As JSON."""
    return json.dumps(description(), separators=(",", ":")).encode()


def _reports() -> dict[str, Any]:
    stored = {"status": {"const": "stored"}}
    count = {"type": "integer", "minimum": 1, "maximum": MAX_BATCHES}
    partly = {
        **object_of(
            {**stored, "quarantined": count, "turned_away": count, "reason": {"type": "string"}}, required=["status"]
        ),
        "anyOf": [{"required": ["quarantined"]}, {"required": ["turned_away", "reason"]}],
    }
    return {
        "operationId": "sendReports",
        "summary": "Stores an upload; the id makes a retry count once",
        "security": SECURITY,
        "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": _upload()}}},
        "responses": {
            "200": success("All of it is on stable storage", object_of(stored)),
            "202": success("A part is kept aside or turned away, the rest is on stable storage", partly),
            **refusals(ANYWHERE, BODY, REPORTS),
        },
    }


def _upload() -> dict[str, Any]:
    """An upload's msgpack array, in terms of JSON: a bin is a string whose characters stand for bytes."""
    batch = array(
        bin_of(FINGERPRINT_BYTES, FINGERPRINT_BYTES),
        {"type": "integer", "minimum": 0, "maximum": MAX_PERIOD},
        bin_of(1),
    )
    return {
        "description": "Decoded from msgpack; every string here is a bin",
        **array({"const": VERSION}, bin_of(ID_BYTES, ID_BYTES), {"type": "array", "items": batch, "minItems": 1,
                                                       "maxItems": MAX_BATCHES}),
    }  # fmt: skip


def _troubles() -> dict[str, Any]:
    count = {"type": "integer", "minimum": 1, "maximum": MAX_COUNT}
    counts = {**object_of(dict.fromkeys(REASONS, count), required=[]), "minProperties": 1}
    return {
        "operationId": "sendTroubles",
        "summary": "Counts what went wrong with a device, by reason",
        "security": SECURITY,
        "requestBody": {"required": True, "content": {JSON: {"schema": counts}}},
        "responses": {
            "200": success("Counted", object_of({"status": {"const": "counted"}})),
            **refusals(ANYWHERE, BODY, TROUBLES),
        },
    }


def health() -> dict[str, Any]:
    """GET /healthz."""
    return {
        "operationId": "health",
        "summary": "Whether the store commits",
        "responses": {
            "200": success("It does", object_of({"status": {"const": "ok"}})),
            **refusals(ANYWHERE, HEALTH),
        },
    }


def itself() -> dict[str, Any]:
    """GET of the description."""
    return {
        "operationId": "describe",
        "summary": "This description",
        "responses": {"200": success("OpenAPI 3.1", {"type": "object"}), **refusals(ANYWHERE)},
    }


def success(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A response of JSON."""
    return {"description": text, "content": {JSON: {"schema": schema}}}
