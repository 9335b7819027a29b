"""The exact audit: e^epsilon of one report, derived from nothing but what the encoder does with its random input."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from hubbub_registry import Metric
from hubbub_registry.exact import exp_lower, float_up, ln_upper
from hubbub_registry.mechanisms import exact_ratio
from hubbub_simulations.audit.driver import Driver
from hubbub_simulations.audit.elsewhere import check_elsewhere
from hubbub_simulations.audit.errors import AuditError, LayoutError
from hubbub_simulations.audit.facts import Fact, Facts
from hubbub_simulations.audit.layouts import layout_of
from hubbub_simulations.audit.permanent import check_permanent
from hubbub_simulations.audit.ratios import Worst
from hubbub_simulations.audit.values import settings_of, values_of
from hubbub_simulations.audit.vector import audit_vector
from hubbub_simulations.audit.whole import audit_whole

_RUNS = 2_000_000
_MOST_WAYS = 2000
_SETTINGS = 4
_SINGLE_BIT_SETTINGS = 32
_WHOLE_VALUES, _OPEN_VALUES, _VECTOR_VALUES = 4096, 16, 2048
# So many lanes, over all values, are probed at each public setting.
_LANES = 1 << 22
Progress = Callable[[float], None]


@dataclass(frozen=True)
class ExactAudit:
    """What was found of one metric, beside what it says of itself."""

    metric: str
    mechanism: str
    declared: Fraction
    """Epsilon, as the registry declares it."""
    stated: Fraction
    """e^epsilon, as the mechanism's ``worst_ratio`` states it."""
    printed: float
    """Epsilon, as ``hubbub check`` prints it."""
    worst: Worst | None
    """None where the encoder does not use its input or fill its record as described."""
    problem: str
    """What is not as described; else empty."""
    facts: tuple[Fact, ...]
    values: int
    values_driven: int
    settings: int
    all_settings: int
    runs: int

    @property
    def epsilon(self) -> float | None:
        """ln of the worst ratio, rounded up; None where it is infinite or was not found."""
        if self.worst is None or self.worst.ratio is None:
            return None
        return float_up(ln_upper(self.worst.ratio))

    @property
    def agrees(self) -> bool:
        """Whether the ratio that was found is the one that the mechanism states, and that ``check`` prints.

        A mechanism may state a bound that is off by less than one part in 2**48, where its uniform draws of so many
        bits are not all biased alike.
        """
        if self.worst is None or self.worst.ratio is None or self.printed != float_up(ln_upper(self.stated)):
            return False
        return 0 <= self.stated - self.worst.ratio <= self.worst.ratio / (1 << 48)

    @property
    def exceeds_declared(self) -> bool:
        """Whether the ratio that was found is above e^declared."""
        return self.worst is not None and self.worst.exceeds(exp_lower(self.declared))

    @property
    def exceeds_stated(self) -> bool:
        """Whether the ratio that was found is above the stated one, which devices are charged for."""
        return self.worst is not None and self.worst.exceeds(self.stated)

    @property
    def passed(self) -> bool:
        """Whether the encoder is as private as declared and as stated, and every fact behind that holds."""
        unsound = self.worst is None or not all(fact.holds for fact in self.facts)
        return not (unsound or self.exceeds_declared or self.exceeds_stated)


def audit_exactly(
    metric: Metric,
    encoder: Callable[..., Any] | None = None,
    progress: Progress = lambda _share: None,
    seed: int = 0,
) -> ExactAudit:
    """Audits the client's encoder of ``metric``, or another class with its interface.

    ``progress`` is told which share of the work is done; ``seed`` picks what is tried where not everything can be.
    Raises AuditError where the mechanism has no description, its draws have too many results, or the encoder cannot be
    run in another process.
    """
    rng = random.Random(seed)  # noqa: S311 - picks trials, and is no noise
    layout = layout_of(metric)
    if prod(part.results or 1 for part in layout.noise) > _MOST_WAYS:
        raise AuditError(
            f"metric {metric.name}: {len(layout.noise) - 1} draws have more results together than can be gone through; "
            "use --empirical, and audit the same mechanism over a shorter list"
        )
    facts = Facts()
    worst, problem, runs = None, "", 0
    most = _SETTINGS if layout.vector else _SINGLE_BIT_SETTINGS
    settings = settings_of(layout, most, rng)
    closed = _WHOLE_VALUES if metric.closed else _OPEN_VALUES
    lanes = layout.noise[0].lanes
    values = values_of(metric, min(_VECTOR_VALUES, _LANES // lanes) if layout.vector else closed)
    driven = 0
    try:
        driver = Driver(metric, layout, encoder)
        with driver.driven():
            if layout.vector:
                worst, driven = audit_vector(driver, facts, values, settings, rng, progress)
            else:
                worst, driven = audit_whole(driver, facts, values, settings, _RUNS, rng, progress)
        runs = driver.runs
        check_permanent(metric, layout, encoder, facts, values)
        check_elsewhere(metric, encoder, facts, values, rng)
    except LayoutError as error:
        problem = str(error)
    return ExactAudit(
        metric.name,
        metric.mechanism,
        metric.epsilon,
        exact_ratio(metric.mechanism, metric.device.parameters),
        float_up(metric.exact_epsilon),
        worst,
        problem,
        facts.all(),
        len(values),
        driven,
        len(settings),
        1 << sum(part.bits for _, part in layout.public),
        runs,
    )
