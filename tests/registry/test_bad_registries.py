"""Whatever is wrong with a registry is said with its place and a remedy, all of it at once."""

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub_registry import Problem, RegistryError, load_registry

from tests.registry.documents import LIST, RAPPOR, SKETCH, table, write


def problems_of(path: Path) -> tuple[Problem, ...]:
    """What is wrong with a registry; every problem says what and what to do."""
    with pytest.raises(RegistryError) as caught:
        load_registry(path)
    for problem in caught.value.problems:
        assert problem.what
        assert problem.remedy
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems)
    assert all(line.startswith(f"{path}: ") for line in lines)
    return caught.value.problems


Keys = Mapping[str, str | None]
ONE_KEY: list[tuple[Keys, str, str | None, str]] = [
    # base, key, TOML value (None: left out), what the message says
    *((SKETCH, key, None, "is missing") for key in SKETCH),
    (SKETCH, "colour", '"blue"', "is not a key hubbub knows here"),
    (SKETCH, "f", "0.5", "is not a key hubbub knows here"),
    (SKETCH, '"two words"', "1", "is not a key hubbub knows here"),
    *((SKETCH, key, value, "is not a text") for key in ("description", "owner") for value in ('""', '" "', "3", "[]")),
    *((SKETCH, "mechanism", value, "is not a choice") for value in ('"magic"', '""', "3", "[]")),
    *(
        (SKETCH, key, value, f"{shown} is not a positive number")
        for key in ("epsilon", "lifetime_epsilon")
        for value, shown in [
            ("-1", "-1"), ("0", "0"), ("0.0", "0.0"), ("-0.5", "-0.5"), ("true", "true"), ('"2"', "'2'"),
            ("nan", "NaN"), ("inf", "Infinity"), ("-inf", "-Infinity"), ("[2]", "[2]"), ("{}", "{}"),
            ("2020-01-01", "2020-01-01"),
        ]
    ),
    (SKETCH, "epsilon", "16.1", "protects nobody"),
    (SKETCH, "epsilon", "1e400000000", "protects nobody"),
    (SKETCH, "epsilon", "1" + "0" * 300, "protects nobody"),
    (SKETCH, "epsilon", "1e-400000000", "as good as 0"),
    (SKETCH, "epsilon", "1e-11", "no threshold of 32 bits"),
    (SKETCH, "lifetime_epsilon", "1000001", "bounds nothing"),
    (SKETCH, "lifetime_epsilon", "1.9", "1.9 does not pay for one report"),
    (SKETCH, "lifetime_epsilon", '"forever"', "is not a positive number"),
    *((SKETCH, "width", value, "is no power of two") for value in ("3", "1000", "129")),
    *((SKETCH, "hashes", value, "is no power of two") for value in ("3", "65535")),
    *(
        (SKETCH, key, value, "is not an integer from")
        for key in ("width", "hashes", "reports_per_period")
        for value in ("0", "-1", "1.0", "true", '"64"', "99999999999999999999", "nan")
    ),
    *(
        (SKETCH, "period", value, "is not a period")
        for value in ('"0d"', '"7 days"', '"7"', '"d"', '"-7d"', '"7d "', '"7D"', '"1.5d"', '""', "7", "true", '"٧d"')
    ),
    (SKETCH, "period", '"999999999w"', "longer than ten years"),
    *(
        (SKETCH, "expires", value, "is not a date")
        for value in ('"2027-01-01"', "2027-01-01T00:00:00Z", "2027-01-01T00:00:00", "07:00:00", "2027", "true")
    ),
    *((SKETCH, "salt", value, "is not a salt") for value in ("1", '"12"', '"0123456789ABCDEF"', '"g123456789abcdef"')),
    (SKETCH, "unbounded_justification", '"it is only a test"', "justifies nothing"),
    (SKETCH, "silence", "3", "is not a table"),
    (SKETCH, "silence.unheard", '"A reason, and a long one"', "is not a check that can be silenced"),
    (SKETCH, "silence.expired", '"no"', "has no written reason"),
    (SKETCH, "silence.expired", "12345678901", "has no written reason"),
    (SKETCH, "values", '["a", "b"]', "takes any value"),
    *((SKETCH, "candidates", value, "neither a list of texts nor a file") for value in ("3", "true", "{}")),
    (SKETCH, "candidates", '["a", 3, "b"]', "value number 2 is 3, not a text"),
    (SKETCH, "candidates", '["a", "b", "a"]', "value number 3, 'a', repeats value number 1"),
    (SKETCH, "candidates",  '["é", "e\\u0301"]', "value number 2, 'é', repeats value number 1"),
    (SKETCH, "candidates", '["' + "a" * 257 + '"]', "more than 256 bytes"),
    (SKETCH, "candidates", "[]", "the list is empty"),
    (SKETCH, "candidates", '"missing.txt"', "there is no file"),
    (SKETCH, "candidates", '"."', "cannot be read (Is a directory)"),
    (SKETCH, "candidates", '"a\\u0000b"', "cannot be a file name"),
    (LIST, "values", None, "is missing"),
    (LIST, "values", "[]", "the list is empty"),
    (LIST, "values", '["a"]', "one value says nothing"),
    (LIST, "values", '"missing.txt"', "there is no file"),
    (LIST, "values", '["a", "a"]', "repeats"),
    (LIST, "candidates", '["a"]', "reports nothing but its values"),
    *(
        (RAPPOR, key, value, "is not a probability")
        for key in ("f", "p", "q")
        for value in ("0", "1", "-0.1", "1.1", "nan", "inf", "true", '"0.5"', "1e-400000000", "0.0")
    ),
    (RAPPOR, "p", "0.75", "is not below q"),
    (RAPPOR, "p", "0.9", "is not below q"),
    (RAPPOR, "q", "0.4", "is not below q = 0.4"),
    (RAPPOR, "bits", "100", "is no power of two"),
    (RAPPOR, "cohorts", "0", "is not an integer from"),
    (RAPPOR, "encoding", '"onehot"', "is not a choice"),
    (RAPPOR, "reports", "[]", "is not a choice"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "key", "value", "says"), ONE_KEY)
def test_one_wrong_key(tmp_path: Path, base: Keys, key: str, value: str | None, says: str) -> None:
    """One wrong key gives one problem, at that key, that says what is wrong."""
    where = "p" if says.startswith("is not below q") else key
    (problem,) = problems_of(write(tmp_path, table("metrics.m", {**base, key: value})))
    assert problem.where == f"metrics.m.{where}"
    assert says in problem.what


def test_wrong_keys_together(tmp_path: Path) -> None:
    """Problems of every kind, in every table, are reported in one go."""
    path = write(
        tmp_path,
        table("metrics.one", {**SKETCH, "epsilon": "-1", "width": "100", "colour": "1", "candidates": '"none.txt"'}),
        table("metrics.two", {**RAPPOR, "f": "2", "p": None, "expires": '"soon"'}),
        table("metrics.three", {**RAPPOR, "p": "0.8", "hashes": None, "period": '"0d"'}),
        table("metrics.four", {**LIST, "lifetime_epsilon": "0.5", "owner": '""'}),
        table("Other", {"key": "1"}),
        header={"schema": "2", "namespace": None, "extra": "1"},
    )
    assert {problem.where for problem in problems_of(path)} == {
        "registry.schema", "registry.namespace", "registry.extra", "Other",
        "metrics.one.epsilon", "metrics.one.width", "metrics.one.colour", "metrics.one.candidates",
        "metrics.two.f", "metrics.two.expires",
        "metrics.three.p", "metrics.three.hashes", "metrics.three.period",
        "metrics.four.lifetime_epsilon", "metrics.four.owner",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Upper", "1st", "two-words", '"two words"', '""', '"a\\nb"', "a" * 65, '"ä"'])
def test_metric_names(tmp_path: Path, name: str) -> None:
    """A metric's name is small letters, digits and underscores, and a message about it stays on one line."""
    (problem,) = problems_of(write(tmp_path, table(f"metrics.{name}", SKETCH)))
    assert problem.where == f"metrics.{name}"
    assert problem.what == "is not a metric name"


@pytest.mark.parametrize(
    ("header", "where"),
    [
        ({"schema": None}, "registry.schema"),
        ({"schema": "2"}, "registry.schema"),
        ({"schema": "true"}, "registry.schema"),
        ({"schema": '"1"'}, "registry.schema"),
        ({"namespace": None}, "registry.namespace"),
        ({"namespace": '"two words"'}, "registry.namespace"),
        ({"namespace": "3"}, "registry.namespace"),
        ({"version": "1"}, "registry.version"),
    ],
)
def test_header(tmp_path: Path, header: Keys, where: str) -> None:
    """Each key of [registry] is checked."""
    assert [problem.where for problem in problems_of(write(tmp_path, table("metrics.m", SKETCH), header=header))] == [
        where
    ]


@pytest.mark.parametrize(
    ("content", "where", "says"),
    [
        (b"", "registry.schema", "is missing"),
        (b"\xff\xfe", "file", "is not UTF-8 at line 1"),
        (b"[registry]\nschema = 1\nnamespace = '\xe9'\n", "file", "is not UTF-8 at line 3"),
        (b"[registry\n", "file", "is not TOML: .*line 1"),
        (b"[metrics.a]\n[metrics.b]\n[metrics.a]\n", "file", "is not TOML: .*line 3"),
        (b"[metrics.a]\nepsilon = 1\nepsilon = 2\n", "file", "is not TOML: .*line 3"),
        (b"a = " + b"[" * 5000, "file", "too deep"),
        (b"a = " + b"9" * 5000, "file", "too long"),
        (b"registry = 3\n", "registry", "is not a table"),
        (b"metrics = 3\n", "metrics", "there is no metric"),
        (b"[registry]\nschema = 1\nnamespace = 'a'\n", "metrics", "there is no metric"),
        (b"metrics.m = 3\n", "metrics.m", "is not a table"),
    ],
)
def test_files(tmp_path: Path, content: bytes, where: str, says: str) -> None:
    """A file that is no registry at all is refused with the place of what is wrong in it."""
    path = tmp_path / "registry.toml"
    path.write_bytes(content)
    assert any(problem.where == where and re.search(says, problem.what) for problem in problems_of(path))


def test_no_file(tmp_path: Path) -> None:
    """A registry that is not there, or is a directory, is refused by its name."""
    assert problems_of(tmp_path / "none.toml")[0].what == "cannot be read (No such file or directory)"
    assert problems_of(tmp_path)[0].what == "cannot be read (Is a directory)"


def test_candidates_not_utf8(tmp_path: Path) -> None:
    """A candidates file that is not UTF-8 is refused with the line."""
    (tmp_path / "list.txt").write_bytes(b"one\ntwo\nthr\xe9e\n")
    (problem,) = problems_of(write(tmp_path, table("metrics.m", {**SKETCH, "candidates": '"list.txt"'})))
    assert problem.where == "metrics.m.candidates"
    assert "list.txt is not UTF-8 at line 3" in problem.what


def test_unbounded_needs_its_reason(tmp_path: Path) -> None:
    """An unbounded lifetime without a written justification is refused, and with one it loads."""
    endless = {**SKETCH, "lifetime_epsilon": '"unbounded"'}
    for reason in (None, '""', '"no"', "3"):
        (problem,) = problems_of(write(tmp_path, table("metrics.m", {**endless, "unbounded_justification": reason})))
        assert problem.where == "metrics.m.unbounded_justification"
        assert problem.what == "has no written reason"
    good = table("metrics.m", {**endless, "unbounded_justification": '"The device is sold and never comes back"'})
    metric = load_registry(write(tmp_path, good)).metric("m")
    assert metric.lifetime_epsilon is None
    assert "lifetime_nano" not in metric.entry
    assert metric.unbounded_justification == "The device is sold and never comes back"


def test_unknown_metric(tmp_path: Path) -> None:
    """Asking for a metric that is not there names those that are."""
    registry = load_registry(write(tmp_path, table("metrics.m", SKETCH), table("metrics.n", SKETCH)))
    with pytest.raises(RegistryError, match=r"metrics\.x: is not in this registry; name one of m, n"):
        registry.metric("x")


TOML = st.sampled_from(
    ["0", "1", "-1", "2.5", "nan", "inf", "true", '""', '"a"', "[]", '["a"]', "[1]", "{}", "{a=1}", "1979-05-27",
     "07:32:00", "1e9", "64", '"7d"', "0.3"]
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(sorted({*SKETCH, *LIST, *RAPPOR, "salt", "silence", "candidates"})), TOML))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_types(tmp_path: Path, keys: dict[str, str]) -> None:
    """Whatever type stands at whatever key, a registry loads or is refused: nothing else is ever raised."""
    for base in (SKETCH, LIST, RAPPOR):
        with contextlib.suppress(RegistryError):
            registry = load_registry(write(tmp_path, table("metrics.m", {**base, **keys})))
            assert registry.plan.metric("m").name == "m"
