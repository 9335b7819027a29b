"""The address that takes ciphertexts: a shuffler's, and that of who opens its batches."""

from __future__ import annotations

import json
from typing import Any

from hubbub_collector.body import MEDIA_TYPE
from hubbub_collector.openapi.answers import ANYWHERE, BODY, SEALED, refusals
from hubbub_collector.openapi.description import PATH, SECURITY, health, itself, success
from hubbub_collector.openapi.shapes import array, bin_of, object_of
from hubbub_collector.shuffler.sealed_body import ID_BYTES, KEY_ID_BYTES, LEAST_BYTES, MOST, MOST_BYTES, VERSION


def sealed_description(path: str) -> dict[str, Any]:
    """The whole description of a server that takes ciphertexts at ``path``, new at each call."""
    ciphertexts = {
        "type": "array", "minItems": 1, "maxItems": MOST, "items": bin_of(LEAST_BYTES, MOST_BYTES),
        "description": "All of one size",
    }  # fmt: skip
    body = array({"const": VERSION}, bin_of(ID_BYTES, ID_BYTES), bin_of(KEY_ID_BYTES, KEY_ID_BYTES), ciphertexts)
    body["description"] = "[version, id, key id, ciphertexts], decoded from msgpack; every string here is a bin"
    send = {
        "operationId": "sendSealed",
        "summary": "Stores ciphertexts; the id makes a retry count once",
        "security": SECURITY,
        "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": body}}},
        "responses": {
            "200": success("All of it is on stable storage", object_of({"status": {"const": "stored"}})),
            **refusals(ANYWHERE, BODY, SEALED),
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hubbub, sealed reports",
            "version": str(VERSION),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {path: {"post": send}, "/healthz": {"get": health()}, PATH: {"get": itself()}},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def sealed_rendered(path: str) -> bytes:
    """As JSON."""
    return json.dumps(sealed_description(path), separators=(",", ":")).encode()
