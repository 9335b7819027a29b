"""What a run of the sealer did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class GroupReport:
    """What became of one metric and period. ``status`` is one of

    ``sealed``; ``held`` (below the minimum); ``open`` (the period, or its grace, has not ended); ``unknown`` (its
    metric is not in this registry); ``damaged`` (``problem`` says how). Where the metric is unknown it is "", and
    ``records`` is None: how wide they are is not known either. ``bytes`` are those of the records.
    """

    metric: str
    fingerprint: str
    period: int
    status: str
    uploads: int
    records: int | None
    bytes: int
    parts: int = 0
    problem: str = ""


@dataclass
class SealReport:
    """``batches`` were taken from the workers' stores, ``repeats`` of them dropped. ``overdue`` are kept aside, of all
    runs: they came when the upload ids of their period were forgotten, and may be repeats. ``released`` were taken from
    quarantine, ``released_repeats`` of them dropped. ``quarantined`` batches lie there now; ``unfit`` counts those of
    them whose metric is known, by the code of the reason why they were not taken. ``problems`` are what is damaged in
    the workers' stores, and was left where it is.
    """

    batches: int = 0
    repeats: int = 0
    overdue: int = 0
    released: int = 0
    released_repeats: int = 0
    quarantined: int = 0
    unfit: dict[str, int] = field(default_factory=dict)
    groups: list[GroupReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def damaged(self) -> bool:
        """Whether anything is damaged."""
        return bool(self.problems) or any(group.status == "damaged" for group in self.groups)
