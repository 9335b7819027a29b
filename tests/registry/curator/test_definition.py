"""``[curated.NAME]`` is read strictly, and everything wrong is said with its place and a remedy."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub_registry import RegistryError, load_registry

from tests.registry.curator.tables import COUNT, GAUSSIAN, HISTOGRAM, SUM, curated_of, gaussian
from tests.registry.documents import LIST, table, write
from tests.registry.test_bad_registries import problems_of

GAUSSIAN_SUM = gaussian(SUM)
ONE_KEY: list[tuple[dict[str, str], str, str | None, str]] = [
    *((base, key, None, "is missing") for base in (COUNT, GAUSSIAN_SUM, HISTOGRAM) for key in base),
    (COUNT, "colour", '"blue"', "is not a key hubbub knows here"),
    (COUNT, "low", "0", "is not a key hubbub knows here"),
    (COUNT, "delta", "1e-9", "is not a key hubbub knows here"),
    (COUNT, "rho", "1", "is not a key hubbub knows here"),
    (GAUSSIAN_SUM, "epsilon", "1", "is not a key hubbub knows here"),
    (SUM, "buckets", "2", "is not a key hubbub knows here"),
    *((COUNT, key, '"other"', "is not a choice") for key in ("statistic", "noise", "adjacency")),
    *(
        (base, key, value, "is not a positive number")
        for base, key in [(COUNT, "epsilon"), (COUNT, "lifetime_epsilon"), (GAUSSIAN_SUM, "rho")]
        for value in ("0", "-1", "nan", "inf", "true", '"1"', '"unbounded"')
    ),
    (COUNT, "epsilon", "16.1", "protects nobody"),
    (COUNT, "epsilon", "1e-400000000", "as good as 0"),
    (COUNT, "lifetime_epsilon", "0.9", "does not pay for one release"),
    (GAUSSIAN_SUM, "lifetime_rho", "0.09", "does not pay for one release"),
    *((GAUSSIAN_SUM, "delta", value, "is not a probability") for value in ("0", "1", "-1", "nan", '"1e-9"')),
    (GAUSSIAN_SUM, "delta", "0.01", "is a chance to lose everything"),
    *(
        (SUM, key, value, "is not an integer from")
        for key in ("contributions_per_period", "sensors", "sensors_minimum", "low", "high", "resolution")
        for value in ("1.5", "true", '"1"', "nan", "9999999999999999999")
    ),
    *((SUM, key, "0", "is not an integer") for key in ("contributions_per_period", "sensors", "resolution")),
    (SUM, "high", "-3", "is not above low = -3"),
    (HISTOGRAM, "high", "-1", "is not above low = 0"),
    (HISTOGRAM, "buckets", "1", "is not an integer from"),
    (HISTOGRAM, "buckets", "11", "are more than the range has integers"),
    (COUNT, "sensors_minimum", "101", "is above sensors"),
    (COUNT, "period", '"0d"', "is not a period"),
    (COUNT, "expires", '"2027-01-01"', "is not a date"),
    (COUNT, "silence", "{ unheard = 'A reason, and a long one' }", "is not a check that can be silenced"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "key", "value", "says"), ONE_KEY)
def test_one_wrong_key(tmp_path: Path, base: dict[str, str], key: str, value: str | None, says: str) -> None:
    """One wrong key gives a problem at that key that says what is wrong."""
    problems = problems_of(write(tmp_path, table("curated.c", {**base, key: value})))
    where = f"curated.c.{key}" + (".unheard" if key == "silence" else "")
    assert [problem.where for problem in problems if says in problem.what] == [where]
    if value is not None:
        assert len(problems) == 1


def test_too_large(tmp_path: Path) -> None:
    """Sums past 53 bits, and noise past what a sampler of 64 bits holds, are refused."""
    wide = {**SUM, "high": str(1 << 40), "sensors": "1000000"}
    (problem,) = problems_of(write(tmp_path, table("curated.c", wide)))
    assert (problem.where, "could pass" in problem.what) == ("curated.c.sensors", True)
    (problem,) = problems_of(
        write(tmp_path, table("curated.c", {**COUNT, "epsilon": "1e-9", "contributions_per_period": "1000000"}))
    )
    assert (problem.where, "scale above" in problem.what) == ("curated.c.epsilon", True)


def test_names(tmp_path: Path) -> None:
    """A name is written as a metric's is, and stands for one thing only."""
    (problem,) = problems_of(write(tmp_path, table("curated.Upper", COUNT)))
    assert (problem.where, problem.what) == ("curated.Upper", "is not a metric name")
    (problem,) = problems_of(write(tmp_path, table("metrics.m", LIST), table("curated.m", COUNT)))
    assert (problem.where, "under [metrics]" in problem.what) == ("curated.m", True)


@pytest.mark.parametrize("text", ["curated = 3", "[curated]\nc = 3", "curated = []\n[metrics]"])
def test_no_tables(tmp_path: Path, text: str) -> None:
    """What is no table is refused at its place."""
    path = tmp_path / "registry.toml"
    path.write_text(f"{text}\n[registry]\nschema = 1\nnamespace = 'a'\n")
    assert any(problem.where.startswith(("curated", "metrics")) for problem in problems_of(path))


TOML = st.sampled_from(
    ["0", "1", "-1", "2.5", "nan", "inf", "true", '""', '"count"', "[]", "{}", "1979-05-27", "1e9", "64", '"7d"', "0.3"]
)


@given(st.dictionaries(st.sampled_from(sorted({*SUM, *HISTOGRAM, *GAUSSIAN, "silence", "resolution"})), TOML))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_types(tmp_path: Path, keys: dict[str, str]) -> None:
    """Whatever type stands at whatever key, a registry loads or is refused: nothing else is ever raised."""
    for base in (COUNT, SUM, HISTOGRAM, GAUSSIAN_SUM):
        with contextlib.suppress(RegistryError):
            assert load_registry(write(tmp_path, table("curated.c", {**base, **keys}))).curated["c"].name == "c"


CHANGES = {
    "statistic": '"histogram"', "noise": '"discrete-gaussian"', "adjacency": '"replace"', "epsilon": "1.5",
    "lifetime_epsilon": "999", "contributions_per_period": "3", "sensors": "99", "sensors_minimum": "3",
    "period": '"2d"', "low": "-4", "high": "6", "resolution": "10",
}  # fmt: skip


@pytest.mark.parametrize("key", CHANGES)
def test_fingerprint_covers(tmp_path: Path, key: str) -> None:
    """Every key that decides what is released, how often or how private changes the fingerprint."""
    changed: dict[str, str] = {**SUM, key: CHANGES[key]}
    if key == "noise":
        changed = GAUSSIAN_SUM
    if key == "statistic":
        changed["buckets"] = "2"
    assert curated_of(tmp_path, changed).fingerprint != curated_of(tmp_path, SUM).fingerprint


def test_fingerprint_leaves_out(tmp_path: Path) -> None:
    """What decides nothing of that leaves the fingerprint as it is; so does the same number written otherwise."""
    same = {"description": '"Others"', "owner": '"others"', "expires": "2098-01-01", "epsilon": "1.0"}
    assert curated_of(tmp_path, {**SUM, **same}).fingerprint == curated_of(tmp_path, SUM).fingerprint
