"""``hubbub check``: every figure exact, every finding shown, and an exit status that a script can use."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry import load_registry
from hubbub_registry.commands import main
from hubbub_registry.exact import ln_upper
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.mechanisms import NAMES
from hubbub_registry.summary.figures import decimal_up, duration

from tests.registries import write_registry
from tests.registry.documents import RAPPOR, SKETCH, table, write

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def everything(tmp_path: Path) -> Path:
    """A registry with a metric of each mechanism."""
    metrics: dict[str, dict[str, Any]] = {name.replace("-", "_"): {"mechanism": name, "period": "7d"} for name in NAMES}
    return write_registry(tmp_path / "registry.toml", metrics)


def check_json(path: Path, capsys: Captured, status: int = 0) -> dict[str, Any]:
    """What ``hubbub check --json`` prints."""
    assert main(["check", str(path), "--json"]) == status
    captured = capsys.readouterr()
    assert captured.err == ""
    document: dict[str, Any] = json.loads(captured.out)
    return document


def test_json_figures(everything: Path, capsys: Captured) -> None:
    """Every figure is the exact one, rounded up to a float: never below, and by less than one part in 1e15."""
    document = check_json(everything, capsys)
    registry = load_registry(everything)
    assert set(document["metrics"]) == set(registry.metrics)
    for name, metric in registry.metrics.items():
        shown = document["metrics"][name]
        assert shown["exact"] == shown["epsilon"]["exact"] == [metric.ratio.numerator, metric.ratio.denominator]
        assert shown["fingerprint"] == metric.fingerprint.hex()
        assert shown["record_bytes"] == metric.device.record_bytes
        assert shown["parameters"] == metric.device.parameters
        lifetime = Fraction(10000) // metric.exact_epsilon
        for key, count in {"per_report": 1, "per_period": 1, "per_year": 53, "lifetime": lifetime}.items():
            exact = count * metric.exact_epsilon
            if key == "lifetime" and metric.permanent_ratio is not None:
                exact = Fraction(10000)  # a value that never changes is reported without end, within the budget
            assert exact <= Fraction(shown["epsilon"][key]) <= exact * (1 + Fraction(1, 10**15))


def test_json_sum(everything: Path, capsys: Captured) -> None:
    """The namespace has the sum over all metrics, rounded up once."""
    document = check_json(everything, capsys)
    registry = load_registry(everything)
    year = sum(53 * metric.exact_epsilon for metric in registry.metrics.values())
    shown = Fraction(document["namespace"]["epsilon"]["per_year"])
    assert year <= shown <= year * (1 + Fraction(1, 10**15))


def test_json_rappor(everything: Path, capsys: Captured) -> None:
    """Longitudinal RAPPOR has the cost of one unchanging value and its limit beside the sums."""
    epsilon = check_json(everything, capsys)["metrics"]["rappor"]["epsilon"]
    metric = load_registry(everything).metric("rappor")
    assert metric.permanent_ratio is not None
    assert Fraction(epsilon["permanent"]) >= ln_upper(metric.permanent_ratio)
    assert Fraction(epsilon["one_value"]["per_year"]) >= one_value_epsilon(metric, 53)
    assert epsilon["one_value"]["per_period"] == epsilon["per_report"]
    assert epsilon["per_report"] < epsilon["one_value"]["per_year"] < epsilon["permanent"] < epsilon["per_year"]


def test_json_unbounded(tmp_path: Path, capsys: Captured) -> None:
    """A lifetime without a bound is null and says so, for the metric and for the sum, and its reason is there."""
    reason = "The device is sold and never comes back"
    endless = {**RAPPOR, "lifetime_epsilon": '"unbounded"', "unbounded_justification": f'"{reason}"'}
    path = write(tmp_path, table("metrics.endless", endless), table("metrics.m", SKETCH))
    document = check_json(path, capsys)
    shown = document["metrics"]["endless"]
    assert shown["epsilon"]["lifetime"] is None
    assert shown["epsilon"]["unbounded"] is True
    assert shown["unbounded_justification"] == reason
    assert shown["epsilon"]["one_value"]["lifetime"] == shown["epsilon"]["permanent"]
    assert document["namespace"]["epsilon"]["lifetime"] is None
    assert document["namespace"]["epsilon"]["unbounded"] is True
    assert "unbounded" not in document["metrics"]["m"]["epsilon"]


def test_json_findings(tmp_path: Path, capsys: Captured) -> None:
    """Findings are listed with lint, level, place, remedy and the reason that silences them."""
    silence = '{ lifetime-high = "A test spends what it likes" }'
    path = write(tmp_path, table("metrics.m", {**SKETCH, "silence": silence}))
    findings = {finding["lint"]: finding for finding in check_json(path, capsys)["findings"]}
    assert findings["lifetime-high"]["silenced"] == "A test spends what it likes"
    assert findings["no-candidates"]["silenced"] is None
    assert findings["no-candidates"]["where"] == "metrics.m.candidates"
    assert findings["no-candidates"]["level"] == "warning"
    assert findings["no-candidates"]["what"]
    assert findings["no-candidates"]["remedy"]


def test_json_errors(tmp_path: Path, capsys: Captured) -> None:
    """A registry that does not load gives its problems as JSON, and exits with 1."""
    path = write(tmp_path, table("metrics.m", {**SKETCH, "epsilon": "-1", "width": "3"}))
    assert check_json(path, capsys, status=1) == {
        "errors": [
            {
                "where": "metrics.m.epsilon",
                "what": "-1 is not a positive number",
                "remedy": "write an epsilon above 0, at most 16",
            },
            {"where": "metrics.m.width", "what": "3 is no power of two", "remedy": "write 2 or 4"},
        ]
    }


def test_json_lint_errors(tmp_path: Path, capsys: Captured) -> None:
    """A lint of level error fails the check, is among the errors, and hides no figure."""
    document = check_json(write(tmp_path, table("metrics.m", {**SKETCH, "expires": "2001-01-01"})), capsys, status=1)
    assert [error["where"] for error in document["errors"]] == ["metrics.m.expires"]
    assert document["metrics"]["m"]["epsilon"]["per_report"] > 0


def test_text(everything: Path, capsys: Captured) -> None:
    """People see the same figures to six decimals, rounded up, every metric and the sum."""
    assert main(["check", str(everything)]) == 0
    out = capsys.readouterr().out
    registry = load_registry(everything)
    for name, metric in registry.metrics.items():
        one, year = decimal_up(metric.exact_epsilon), decimal_up(53 * metric.exact_epsilon)
        assert re.search(rf"^{name} +{one} +{one} +{year} +[0-9.]+$", out, re.MULTILINE)
        assert metric.fingerprint.hex() in out
    total = decimal_up(sum((metric.exact_epsilon for metric in registry.metrics.values()), Fraction()))
    assert re.search(rf"^one device, all metrics +{total} ", out, re.MULTILINE)
    assert "5929/2025 for one report, exactly" in out
    assert "and never over 4.394450" in out


def test_text_findings(tmp_path: Path, capsys: Captured) -> None:
    """People see errors, warnings, silenced findings with their reasons, and how many there are of each."""
    silence = '{ lifetime-high = "A test spends what it likes" }'
    path = write(tmp_path, table("metrics.m", {**SKETCH, "expires": "2001-01-01", "silence": silence}))
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "error: [expired] metrics.m.expires: 2001-01-01 has come" in out
    assert "warning: [no-candidates] metrics.m.candidates: " in out
    assert "silenced: [lifetime-high] metrics.m.lifetime_epsilon: " in out
    assert "    because: A test spends what it likes" in out
    assert out.endswith("\n1 error, 2 warnings, 1 silenced\n")


def test_text_unbounded(tmp_path: Path, capsys: Captured) -> None:
    """People see an unbounded lifetime as that word, with its justification."""
    endless = {
        **SKETCH,
        "lifetime_epsilon": '"unbounded"',
        "unbounded_justification": '"It lives for a day only"',
    }
    assert main(["check", str(write(tmp_path, table("metrics.m", endless)))]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^one device, all metrics .* unbounded$", out, re.MULTILINE)
    assert "because: It lives for a day only" in out


def test_text_errors(tmp_path: Path, capsys: Captured) -> None:
    """A registry that does not load gives one line a problem on stderr, with its place and remedy."""
    path = write(tmp_path, table("metrics.m", {**SKETCH, "epsilon": "-1", "width": "3"}))
    assert main(["check", str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        f"hubbub check: error: {path}: metrics.m.epsilon: -1 is not a positive number; "
        "write an epsilon above 0, at most 16",
        f"hubbub check: error: {path}: metrics.m.width: 3 is no power of two; write 2 or 4",
    ]


@pytest.mark.parametrize(
    ("value", "text"), [("0", "0.000000"), ("1", "1.000000"), ("1.0000001", "1.000001"), ("0.9999991", "1.000000")]
)
def test_decimal_up(value: str, text: str) -> None:
    """A figure for people is rounded up in its last place."""
    assert decimal_up(Fraction(value)) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(604800, "1w"), (1209600, "2w"), (86400, "1d"), (90, "90s"), (3600, "1h")]
)
def test_duration(seconds: int, text: str) -> None:
    """A period is shown as a registry writes it."""
    assert duration(seconds) == text
