"""The figures and findings of a registry as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from hubbub_registry.accounting import Spending, reports, spending, total
from hubbub_registry.composition.answer import Answer
from hubbub_registry.curator.summary import curated_as_text
from hubbub_registry.exact import ln_upper
from hubbub_registry.lints import Finding
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry
from hubbub_registry.summary.answer_for_people import answer_as_text
from hubbub_registry.summary.figures import columns, decimal_up, duration

__all__ = ["as_text", "decimal_up"]

# More digits than this say nothing to a reader; --json has them.
_SHORT_INTEGER = 10**30


def as_text(registry: Registry, findings: Sequence[Finding], answer: Answer | None = None) -> str:
    """A table of epsilon for every metric and their sum, a paragraph a metric, the answer if any, the findings.

    Where a gateway curates metrics, they have a part of their own, and a registry may have no others.
    """
    metrics = list(registry.metrics.values())
    lines = [f"{registry.namespace}: {_count(len(metrics), 'metric')} in {registry.path}", ""]
    lines += _randomised(metrics) if metrics else []
    if registry.curated:
        lines += [*([""] if metrics else []), *curated_as_text(registry)]
    if answer is not None:
        lines += ["", answer_as_text(answer)]
    lines += ["", *_findings(findings)]
    return "\n".join(lines)


def _randomised(metrics: Sequence[Metric]) -> list[str]:
    """What devices randomise: the table and the paragraphs."""
    rows = [["epsilon, exact, rounded up", "per report", "per period", "per year", "lifetime"]]
    rows += [[metric.name, *_figures(spending(metric))] for metric in metrics]
    rows.append(["one device, all metrics", *_figures(total(map(spending, metrics)))])
    lines = columns(rows)
    permanent = [metric.name for metric in metrics if metric.permanent_ratio is not None]
    if permanent:
        lines.append(f"{', '.join(permanent)}: past one report, between histories that change at the same reports")
    for metric in metrics:
        lines += ["", metric.name, *(f"  {label:12}{text}" for label, text in _describe(metric))]
    return lines


def _figures(spent: Spending) -> list[str]:
    lifetime = "unbounded" if spent.lifetime is None else decimal_up(spent.lifetime)
    return [decimal_up(spent.per_report), decimal_up(spent.per_period), decimal_up(spent.per_year), lifetime]


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
    if metric.lifetime_epsilon is None:
        yield "unbounded", f"because: {metric.unbounded_justification}"
    if metric.permanent_ratio is not None:
        period = decimal_up(one_value_epsilon(metric, count.per_period))
        year = decimal_up(one_value_epsilon(metric, count.per_year))
        forever = decimal_up(ln_upper(metric.permanent_ratio))
        yield "one value", f"reported unchanged costs {period} a period, {year} a year, and never over {forever}"
    if metric.dimension is not None:
        split = metric.dimension
        yield "public", f"{split.name}, one of {len(split.values)}, sent as it is; no epsilon counts it"
        yield "", f"cells of fewer than {_count(split.min_cell, 'report')} are held back when decoded"
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
