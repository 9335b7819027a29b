"""The figures and findings of a registry as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from hubbub_registry.accounting import Spending, reports, spending, total
from hubbub_registry.exact import ln_upper
from hubbub_registry.lints import Finding
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry

DECIMALS = 6
# More digits than this say nothing to a reader; --json has them.
_SHORT_INTEGER = 10**30
_UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def as_text(registry: Registry, findings: Sequence[Finding]) -> str:
    """A table of epsilon for every metric and their sum, then a paragraph a metric, then the findings."""
    metrics = list(registry.metrics.values())
    lines = [f"{registry.namespace}: {_count(len(metrics), 'metric')} in {registry.path}", ""]
    rows = [["epsilon, exact, rounded up", "per report", "per period", "per year", "lifetime"]]
    rows += [[metric.name, *_figures(spending(metric))] for metric in metrics]
    rows.append(["one device, all metrics", *_figures(total(map(spending, metrics)))])
    lines += _table(rows)
    for metric in metrics:
        lines += ["", metric.name, *(f"  {label:12}{text}" for label, text in _describe(metric))]
    lines += ["", *_findings(findings)]
    return "\n".join(lines)


def decimal_up(value: Fraction, decimals: int = DECIMALS) -> str:
    """``value``, not negative, with so many decimals, rounded up: what is printed never flatters."""
    scaled = -(-value.numerator * 10**decimals // value.denominator)
    whole, rest = divmod(scaled, 10**decimals)
    return f"{whole}.{rest:0{decimals}}"


def duration(seconds: int) -> str:
    """Seconds in the largest unit that divides them, as a registry writes a period."""
    unit = next(unit for unit, length in _UNITS.items() if seconds % length == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


def _figures(spent: Spending) -> list[str]:
    lifetime = "unbounded" if spent.lifetime is None else decimal_up(spent.lifetime)
    return [decimal_up(spent.per_report), decimal_up(spent.per_period), decimal_up(spent.per_year), lifetime]


def _table(rows: list[list[str]]) -> list[str]:
    first, *widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:{first}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True))
        for row in rows
    ]


def _describe(metric: Metric) -> Iterator[tuple[str, str]]:
    count = reports(metric)
    settings = [f"{key} {_setting(value)}" for key, value in metric.settings.items() if value is not None]
    if metric.closed:
        settings.insert(0, _count(len(metric.values), "value"))
    yield "mechanism", ", ".join([metric.mechanism, *settings])
    yield "declared", f"at most {decimal_up(metric.epsilon)} a report"
    if max(metric.ratio.numerator, metric.ratio.denominator) < _SHORT_INTEGER:
        yield "e^epsilon", f"{metric.ratio.numerator}/{metric.ratio.denominator} for one report, exactly"
    life = "without end" if count.lifetime is None else f"{count.lifetime} in its life"
    yield (
        "reports",
        f"at most {metric.reports_per_period} each {duration(metric.period)}, {count.per_year} a year, {life}; "
        f"until {metric.expires}",
    )
    if count.lifetime is None:
        yield "unbounded", f"because: {metric.unbounded_justification}"
    if metric.permanent_ratio is not None:
        period = decimal_up(one_value_epsilon(metric, count.per_period))
        year = decimal_up(one_value_epsilon(metric, count.per_year))
        forever = decimal_up(ln_upper(metric.permanent_ratio))
        yield "one value", f"reported unchanged costs {period} a period, {year} a year, and never over {forever}"
    yield "record", f"{_count(metric.device.record_bytes, 'byte')}, fingerprint {metric.fingerprint.hex()}"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        level = finding.level if finding.silenced is None else "silenced"
        yield f"{level}: [{finding.lint}] {finding.where}: {finding.what}"
        yield f"    {finding.remedy}" if finding.silenced is None else f"    because: {finding.silenced}"
    open_findings = [finding for finding in findings if finding.silenced is None]
    errors = sum(finding.fails for finding in findings)
    silenced = len(findings) - len(open_findings)
    yield f"{_count(errors, 'error')}, {_count(len(open_findings) - errors, 'warning')}, {silenced} silenced"


def _setting(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
