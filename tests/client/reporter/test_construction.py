from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hubbub_client import MemoryStorage, Plan, PlanError, Reporter, StateError, TransportError

from tests.client.reporter.reporting import Collector, sketch_plan
from tests.registries import registry_of


def test_a_reporter_takes_a_path_to_a_plan_a_directory_and_a_url(tmp_path: Path) -> None:
    """Text and path objects stand for a plan, a directory and an address, as well as the objects themselves."""
    registry = registry_of(tmp_path, m={"mechanism": "hadamard-response"})
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(registry.document))
    for plan, state in ((path, tmp_path / "one"), (str(path), str(tmp_path / "two")), (registry.plan, MemoryStorage())):
        with Reporter(plan, state=state, transport="https://collector.example.org") as reporter:  # type: ignore[arg-type]
            assert reporter.record("m", "a")
    assert (tmp_path / "one" / "secret").exists()


@pytest.mark.parametrize(
    ("plan", "state", "transport", "error"),
    [
        ("no/such/plan.json", MemoryStorage(), Collector(), OSError),
        (__file__, MemoryStorage(), Collector(), PlanError),
        (None, "", Collector(), StateError),
        (None, "/", Collector(), StateError),
        (None, None, Collector(), StateError),
        (None, b"directory", Collector(), StateError),
        (None, MemoryStorage(), None, TransportError),
        (None, MemoryStorage(), "collector.example.org", TransportError),
    ],
)
def test_what_an_app_passes_wrongly_is_a_typed_error_at_once(
    plan: Any, state: Any, transport: Any, error: type[Exception]
) -> None:
    """A mistake in the program shows when the Reporter is made, and not as silence later."""
    good: Plan = sketch_plan()
    with pytest.raises(error):
        Reporter(good if plan is None else plan, state=state, transport=transport)


def test_making_a_reporter_touches_no_state(tmp_path: Path) -> None:
    """Nothing is made on disk before the first record or flush."""
    Reporter(sketch_plan(), state=str(tmp_path / "state"), transport=Collector())
    assert list(tmp_path.iterdir()) == []
