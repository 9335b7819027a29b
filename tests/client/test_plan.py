from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from hubbub_client.errors import PlanError, RejectedValueError, UnknownMetricError
from hubbub_client.plan import SCHEMA, Plan, definition_fingerprint

from tests.registries import MECHANISMS, registry_of


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    registry = registry_of(tmp_path, **{kind.replace("-", "_"): {"mechanism": kind} for kind in MECHANISMS})
    return copy.deepcopy(dict(registry.document))


def resigned(document: dict[str, Any], place: int) -> dict[str, Any]:
    """The document with the fingerprint of a changed entry made right again, as an attacker would."""
    entry = document["metrics"][place]
    entry["fingerprint"] = definition_fingerprint(document["namespace"], entry).hex()
    return document


def test_a_plan_reads_the_same_from_json_and_msgpack(document: dict[str, Any], tmp_path: Path) -> None:
    """Both forms of a plan give the same metrics."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    one, other = Plan.load(str(path)), Plan.from_bytes(msgpack.packb(document))
    assert {n: m.fingerprint for n, m in one.metrics.items()} == {n: m.fingerprint for n, m in other.metrics.items()}
    assert len(one.metrics) == len(MECHANISMS)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"not a plan", b"\xff\xff", b"[]", b"{}", b'{"schema": 1}', b'{"metrics": []}']
)
def test_what_is_no_plan_is_refused(data: bytes) -> None:
    """Bytes that are no compiled plan raise PlanError and nothing else."""
    with pytest.raises(PlanError):
        Plan.from_bytes(data)


def test_every_truncation_of_a_plan_is_refused(document: dict[str, Any]) -> None:
    """A plan cut at any byte, in either form, raises PlanError and nothing else."""
    document["metrics"] = document["metrics"][:1]
    for data in (json.dumps(document).encode(), msgpack.packb(document)):
        for end in range(len(data)):
            with pytest.raises(PlanError):
                Plan.from_bytes(data[:end])


def test_a_missing_or_mistyped_part_of_an_entry_is_refused(document: dict[str, Any]) -> None:
    """An entry without any one of its parts, or with a wrong type in its place, raises PlanError."""
    for place, entry in enumerate(document["metrics"]):
        for key in entry:
            changes: tuple[Any, ...] = (None, "x", -1.5, [])
            for change in changes:
                broken = copy.deepcopy(document)
                if change is None:
                    del broken["metrics"][place][key]
                    if key in ("lifetime_nano", "values"):
                        continue
                else:
                    broken["metrics"][place][key] = change
                with pytest.raises(PlanError):
                    Plan(broken)


@pytest.mark.parametrize("bits", [-1, (1 << 16) + 1, 10**30])
def test_a_field_of_no_width_a_record_has_is_refused(document: dict[str, Any], bits: int) -> None:
    """A field narrower than nothing, or wider than any record, raises PlanError before anything is allocated."""
    document["metrics"][0]["fields"][0] = ["x", bits, 0]
    with pytest.raises(PlanError, match="is damaged"):
        Plan(resigned(document, 0))


def test_a_closed_domain_without_values_is_refused(document: dict[str, Any]) -> None:
    """A domain of no value, listed as such, raises PlanError: nothing could be encoded after it was paid for."""
    for place, entry in enumerate(document["metrics"]):
        if "domain" in entry["parameters"]:
            entry["parameters"]["domain"] = 0
            entry["values"] = []
            with pytest.raises(PlanError, match="is damaged"):
                Plan(resigned(document, place))


def test_the_last_value_of_a_full_code_passes_and_one_more_does_not(document: dict[str, Any]) -> None:
    """Hadamard response takes blocks x (size - 1) values: the next would own outputs that nobody else can send."""
    place = next(i for i, e in enumerate(document["metrics"]) if e["mechanism"] == "hadamard-response")
    entry = document["metrics"][place]
    full = ((1 << entry["parameters"]["size_bits"]) - 1) << entry["parameters"]["blocks_bits"]
    for domain, fits in ((full, True), (full + 1, False)):
        entry["parameters"]["domain"] = domain
        entry["values"] = [f"v{i}" for i in range(domain)]
        if fits:
            Plan(resigned(document, place))
        else:
            with pytest.raises(PlanError, match="do not fit the code"):
                Plan(resigned(document, place))


def test_nesting_without_end_is_refused(document: dict[str, Any]) -> None:
    """An entry nested deeper than an interpreter recurses raises PlanError."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    document["metrics"][0]["extra"] = deep
    with pytest.raises(PlanError):
        Plan(document)
    while deep:
        deep = deep.pop()  # so that it is not freed recursively


def test_another_schema_is_refused(document: dict[str, Any]) -> None:
    """A plan of another schema is refused with the number of both."""
    document["schema"] = SCHEMA + 1
    with pytest.raises(PlanError, match=f"schema {SCHEMA + 1}, this client reads schema {SCHEMA}"):
        Plan(document)
    document["schema"] = True
    with pytest.raises(PlanError, match="schema True"):
        Plan(document)


def test_a_changed_integer_is_noticed(document: dict[str, Any]) -> None:
    """Changing any integer of any mechanism's parameters after compiling is refused by the fingerprint."""
    for place, entry in enumerate(document["metrics"]):
        for key in entry["parameters"]:
            changed = copy.deepcopy(document)
            changed["metrics"][place]["parameters"][key] += 1
            with pytest.raises(PlanError):
                Plan(changed)


@pytest.mark.parametrize("kind", sorted(MECHANISMS))
def test_a_plan_that_understates_its_epsilon_is_refused(document: dict[str, Any], kind: str) -> None:
    """A device recomputes e^epsilon from the integers and refuses a plan that states less."""
    place = next(i for i, entry in enumerate(document["metrics"]) if entry["mechanism"] == kind)
    entry = document["metrics"][place]
    Plan(resigned(document, place))
    entry["epsilon_nano"] -= 1  # it was rounded up by less than that
    with pytest.raises(PlanError, match="less privacy than the epsilon it states"):
        Plan(resigned(document, place))


def test_a_plan_that_costs_more_than_it_declares_is_refused(document: dict[str, Any]) -> None:
    """A report may not cost more than the bound the registry declares for it."""
    document["metrics"][0]["declared_nano"] = document["metrics"][0]["epsilon_nano"] - 1
    with pytest.raises(PlanError, match="less privacy"):
        Plan(resigned(document, 0))


# Integers with which the stated ratio would look right while the noise is not there: thresholds beyond the precision
# wrap round, one above one half inverts the ratio, and an index or bucket past the last noised bit would be sent bare.
IMPOSSIBLE = [
    ("count-mean-sketch", {"threshold": lambda p: p["threshold"] + (1 << p["precision"])}),
    ("count-mean-sketch", {"threshold": lambda _: 0}),
    ("unary-encoding", {"threshold": lambda p: p["threshold"] + (1 << p["precision"])}),
    ("unary-encoding", {"domain": lambda p: p["domain"] - 1}),
    ("randomized-response", {"domain": lambda p: p["domain"] - 1}),
    ("randomized-response", {"threshold": lambda p: -p["threshold"]}),
    ("hadamard-count-mean-sketch", {"threshold": lambda p: p["threshold"] + (1 << p["precision"])}),
    ("hadamard-response", {"size_bits": lambda _: 1}),
    ("hadamard-response", {"threshold": lambda p: 1 << p["precision"]}),
    ("projective-geometry-response", {"threshold": lambda p: 1 << p["precision"]}),
    ("projective-geometry-response", {"order": lambda _: 4}),  # no prime: some values would own fewer points
    ("projective-geometry-response", {"order": lambda _: 1}),
    ("projective-geometry-response", {"order": lambda _: 31 * 31}),
    ("projective-geometry-response", {"dimension": lambda _: 1}),
    ("projective-geometry-response", {"dimension": lambda _: 1 << 20}),
    ("projective-geometry-response", {"domain": lambda _: 1 << 20}),
    ("projective-geometry-response", {"uniform_bits": lambda _: 2}),
    ("local-hashing", {"threshold": lambda p: 1 << p["precision"]}),
    ("local-hashing", {"threshold": lambda _: 0}),
    ("sequence-fragment-puzzle", {"threshold": lambda p: 1 << p["precision"]}),
    ("sequence-fragment-puzzle", {"fragment_threshold": lambda p: 1 << p["fragment_precision"]}),
    ("sequence-fragment-puzzle", {"fragment_threshold": lambda _: 0}),
    ("sequence-fragment-puzzle", {"fragment_bytes": lambda _: 1 << 40}),
    ("prefix-extending-method", {"threshold": lambda p: 1 << p["precision"]}),
    ("prefix-extending-method", {"width_bits": lambda _: 9}),  # no field is known of so many elements
    ("prefix-extending-method", {"dimension": lambda _: 1}),
    ("prefix-extending-method", {"levels": lambda p: 1 << p["slots_bits"]}),
    ("subset-selection", {"threshold": lambda p: 1 << p["precision"]}),
    ("subset-selection", {"threshold": lambda p: (p["size"] << p["precision"]) // p["domain"] - 1}),  # below uniform
    ("subset-selection", {"size": lambda _: 0}),
    ("subset-selection", {"size": lambda p: p["domain"]}),
    ("subset-selection", {"domain": lambda _: 1025}),
    ("subset-selection", {"draw_bits": lambda _: 2}),
    ("count-mean-sketch", {"threshold": lambda p: (1 << p["precision"]) - p["threshold"]}),
    ("hadamard-count-mean-sketch", {"threshold": lambda p: (1 << p["precision"]) - 1}),
    ("unary-encoding", {"threshold": lambda p: (1 << p["precision"]) - p["threshold"]}),
    ("hierarchical-histogram", {"threshold_1": lambda p: 1 << p["precision"]}),
    ("hierarchical-histogram", {"order_0": lambda _: 4}),
    ("hierarchical-histogram", {"dimension_1": lambda _: 2, "order_1": lambda _: 3}),  # too few points
    ("hierarchical-histogram", {"buckets_bits": lambda _: 0}),
    ("hierarchical-histogram", {"buckets_bits": lambda _: 17}),
    ("hierarchical-histogram", {"levels_bits": lambda _: 5}),
    ("hierarchical-histogram", {"span": lambda p: (1 << p["buckets_bits"]) - 2}),
    ("hierarchical-histogram", {"uniform_bits": lambda _: 1}),
    ("rappor", {"prr_threshold": lambda p: (1 << p["prr_precision"]) - p["prr_threshold"]}),
    ("rappor", {"irr_p": lambda p: p["irr_q"], "irr_q": lambda p: p["irr_p"] - 1}),
    ("rappor", {"bits": lambda p: p["bits"] // 2}),
    ("rappor", {"prr_threshold": lambda p: p["prr_threshold"] + (1 << p["prr_precision"])}),
    ("rappor", {"irr_q": lambda p: 1 << p["irr_precision"]}),
    ("rappor", {"cohorts": lambda _: 0}),
    ("rappor", {"cohorts": lambda _: (1 << 16) + 1}),  # sent in the clear: too many would name the device
    ("count-mean-sketch", {"salt": lambda _: 1 << 64}),
    ("count-mean-sketch", {"width_bits": lambda _: 1 << 40}),
    ("randomized-response", {"precision": lambda _: 1 << 40}),
    ("randomized-response", {"uniform_bits": lambda _: 129}),
]


@pytest.mark.parametrize(("kind", "change"), IMPOSSIBLE)
def test_impossible_integers_are_refused(document: dict[str, Any], kind: str, change: dict[str, Any]) -> None:
    """Integers that no calibration gives are refused, though the plan is otherwise consistent and its epsilon large."""
    place = next(i for i, entry in enumerate(document["metrics"]) if entry["mechanism"] == kind)
    entry = document["metrics"][place]
    entry["epsilon_nano"] = entry["declared_nano"] = 15 * 10**9
    entry.pop("charges", None)  # each report then costs that epsilon
    Plan(resigned(document, place))
    for key, new in change.items():
        entry["parameters"][key] = new(entry["parameters"])
    with pytest.raises(PlanError, match="is damaged"):
        Plan(resigned(document, place))


def test_two_definitions_never_share_a_fingerprint(tmp_path: Path) -> None:
    """Changing any part of a definition that decides what is sent, how often, or how private, changes it."""
    base = {"mechanism": "count-mean-sketch"}
    changes: list[dict[str, Any]] = [
        {}, {"epsilon": 2.5}, {"hashes": 32}, {"width": 64}, {"period": "2d"}, {"reports_per_period": 2},
        {"lifetime_epsilon": 9000}, {"salt": "00000000000000ff"},
    ]  # fmt: skip
    seen = {registry_of(tmp_path, m={**base, **change}).metric("m").fingerprint for change in changes}
    seen.add(registry_of(tmp_path, other=dict(base)).metric("other").fingerprint)
    assert len(seen) == len(changes) + 1


def test_what_people_read_is_not_in_the_fingerprint(tmp_path: Path) -> None:
    """Owner and description may be reworded without cutting the data in two."""
    base = {"mechanism": "count-mean-sketch"}
    one = registry_of(tmp_path, m=base).metric("m").fingerprint
    assert (
        registry_of(tmp_path, m={**base, "owner": "new@example.org", "description": "x"}).metric("m").fingerprint == one
    )


def test_an_unknown_metric_is_named_with_those_there_are(document: dict[str, Any]) -> None:
    """Asking for a metric that is not in the plan raises, and lists what is."""
    with pytest.raises(UnknownMetricError, match="rappor"):
        Plan(document).metric("nothing")


def test_a_value_outside_a_closed_domain_is_not_repeated(document: dict[str, Any]) -> None:
    """A value that is not in the list raises with its reason and without the value."""
    with pytest.raises(RejectedValueError) as caught:
        Plan(document).metric("unary_encoding").index_of(b"secret")
    assert caught.value.reason == "not-in-values"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["period", "reports_per_period", "epsilon_nano", "declared_nano", "lifetime_nano"])
@pytest.mark.parametrize("value", [0, -1, "1"])
def test_what_counts_is_an_integer_above_0(document: dict[str, Any], key: str, value: Any) -> None:
    """A period, a number of reports, an epsilon and a lifetime are at least 1, in a plan otherwise consistent."""
    document["metrics"] = document["metrics"][:1]
    document["metrics"][0][key] = value
    with pytest.raises(PlanError, match="is damaged"):
        Plan(resigned(document, 0))


def test_a_plan_that_was_changed_says_so(document: dict[str, Any]) -> None:
    """Any change that leaves a plan consistent shows in its fingerprint, and the message says which metric and what."""
    entry = document["metrics"][0]
    entry["reports_per_period"] += 1
    with pytest.raises(PlanError, match=f"plan, metric {entry['name']}: it was changed after it was compiled"):
        Plan(document)
