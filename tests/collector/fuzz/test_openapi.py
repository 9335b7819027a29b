"""The served description is true: of what the source can answer, and of what a real server does answer."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
import schemathesis
from aiohttp.test_utils import make_mocked_request
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

import hubbub_collector
from hubbub_collector import openapi
from hubbub_collector.access.gate import CAP
from hubbub_collector.body import BROKEN
from hubbub_collector.limits.limits import Limits
from hubbub_collector.openapi.answers import RETRIED
from hubbub_collector.openapi.sealed import sealed_description, sealed_rendered
from hubbub_collector.shuffler.endpoint import Endpoint
from hubbub_collector.window import _WORDS
from hubbub_collector.writer import Budget, Writer
from hubbub_registry import load_registry

from tests.collector.fuzz.bodies import as_msgpack
from tests.collector.server_process import Collector, collecting
from tests.collector.serving import FakeStore
from tests.collector.uploads import registry_file

_EXAMPLES = 30
_CHECKS = [
    schemathesis.checks.not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_headers_conformance, checks.response_schema_conformance,
]  # fmt: skip
_CONSTANTS = {"BROKEN": BROKEN, "CAP": CAP}
_ELSEWHERE = {"shuffler", "opening", "admin.py"}
"""Modules whose answers are of other listeners."""
_NOT_ROUTED = {(404, "not-found")}
"""Of addresses that are not described."""


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    folder = tmp_path_factory.mktemp("openapi")
    with collecting(registry_file(folder), folder / "data") as found:
        known = [metric.fingerprint for metric in load_registry(folder / "registry.toml").metrics.values()]
        schemathesis.serializer("application/msgpack")(lambda _, value: as_msgpack(value, known))
        yield found


def documented(description: dict[str, Any]) -> dict[str, set[tuple[int, str]]]:
    """(status, code) of each address."""
    found: dict[str, set[tuple[int, str]]] = {}
    for path, methods in description["paths"].items():
        (operation,) = methods.values()
        found[path] = {
            (int(status), code)
            for status, response in operation["responses"].items()
            for code in response["content"]["application/json"]["schema"]
            .get("properties", {})
            .get("error", {})
            .get("enum", ())
        }
    return found


def codes(schema: dict[str, Any]) -> list[str]:
    """Those of a refusal; of a success, none."""
    return list(schema.get("properties", {}).get("error", {}).get("enum", ()))


def raised(*folders: str) -> set[tuple[int, str]]:
    """(status, code) of each refusal that the source has in ``folders``, or where there are none, for those who send
    reports.
    """
    found: set[tuple[int, str]] = set()
    root = Path(hubbub_collector.__file__).parent
    for path in root.rglob("*.py"):
        part = path.relative_to(root).parts[0]
        if part not in folders if folders else part in _ELSEWHERE:
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Refusal":
                status, code = call.args[:2]
                text = _CONSTANTS[code.id] if isinstance(code, ast.Name) else ast.literal_eval(code)
                # The one status that is a variable is aiohttp's for what is not HTTP: see ``handle_error``.
                found.add((400 if isinstance(status, ast.Name) else ast.literal_eval(status), text))
    return found - _NOT_ROUTED


def test_every_refusal_is_described() -> None:
    """Each status and code that the source has is in the description, and each of those is in the source."""
    described = set().union(*documented(openapi.description()).values())
    assert described == raised() | {(400, code) for code in _WORDS}


def test_every_refusal_of_ciphertexts_is_described() -> None:
    """The same, of a shuffler and of who opens its batches."""
    described = set().union(*documented(sealed_description("/v1/sealed")).values())
    assert raised("shuffler", "opening") <= described <= raised() | raised("shuffler", "opening")


def unasked(what: object) -> Any:
    """Must not be called."""
    pytest.fail("it was asked who wants it")


async def test_a_shuffler_serves_its_own_description() -> None:
    """At the same address, without asking who wants it."""
    writer = Writer(FakeStore(), Budget(), lambda _: None)
    try:
        endpoint = Endpoint("/v1/sealed", unasked, unasked, str, writer, Limits())
        answer = await endpoint.handle(make_mocked_request("GET", openapi.PATH))
        assert (answer.status, answer.text) == (200, sealed_rendered("/v1/sealed").decode())
    finally:
        await writer.close()


def test_it_is_served_as_it_is_built(collector: Collector) -> None:
    """An answer to anybody, without a token, of exactly the description; and every address in it is one."""

    async def ask() -> None:
        async with aiohttp.ClientSession(collector.url) as session:
            async with session.get("/openapi.json") as answer:
                assert (answer.status, await answer.json()) == (200, openapi.description())
            for path, methods in openapi.description()["paths"].items():
                for method in ("GET", "POST"):
                    async with session.request(method, path) as answer:
                        assert (answer.status == 405) == (method.lower() not in methods), path
                        assert answer.status != 404

    asyncio.run(ask())


def test_what_may_succeed_later_says_when() -> None:
    """Retry-After is promised for exactly the statuses that clients are told to retry."""
    for methods in openapi.description()["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                assert ("Retry-After" in response.get("headers", {})) == (int(status) in RETRIED)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_answers_are_as_described(collector: Collector, mode: GenerationMode) -> None:
    """Whatever is sent, within the description or against it: no 5xx, nothing of our code, and status, headers and body
    as described.
    """
    statuses: set[int] = set()
    schema = schemathesis.openapi.from_url(f"{collector.url}/openapi.json")
    for result in schema.get_all_operations():
        operation = cast(Ok[Any], result).ok()
        if mode is GenerationMode.NEGATIVE and operation.method == "get":  # nothing is sent that could be wrong
            continue

        @seed(1)
        @settings(
            max_examples=_EXAMPLES, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case[Any]) -> None:
            response = case.call()
            statuses.add(response.status_code)
            assert "Traceback" not in response.text
            assert 'File "' not in response.text
            case.validate_response(response, checks=_CHECKS)

        check()
    assert statuses >= ({200, 202, 400} if mode is GenerationMode.POSITIVE else {400})
