"""One ``[curated.NAME]`` table: read, checked, calibrated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_registry import schema
from hubbub_registry.curator.curated import NOISES, Curated
from hubbub_registry.curator.lints import LINTS
from hubbub_registry.curator.scale import LARGEST_SCALE, gaussian_scale, laplace_scale
from hubbub_registry.curator.sensitivity import ADJACENCIES, STATISTICS, l1_sensitivity, l2_sensitivity_squared
from hubbub_registry.errors import Problem
from hubbub_registry.table import Table, path_of

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
MAX_BOUND = 1 << 40
MAX_CONTRIBUTIONS = 1_000_000
MAX_SENSORS = 1_000_000
MAX_BUCKETS = 4096
MAX_RESOLUTION = 10**9
# Of a sum over all sensors: a reader of JSON with floats of 64 bits still sees every integer.
MAX_TOTAL = 1 << 53
MAX_DELTA = Fraction(1, 1000)
COMMON_KEYS = (
    "description", "owner", "expires", "period", "statistic", "noise", "adjacency", "contributions_per_period",
    "sensors", "sensors_minimum", "silence",
)  # fmt: skip
NOISE_KEYS = {
    "discrete-laplace": ("epsilon", "lifetime_epsilon"),
    "discrete-gaussian": ("rho", "lifetime_rho", "delta"),
}
STATISTIC_KEYS = {
    "count": (),
    "sum": ("low", "high", "resolution"),
    "histogram": ("low", "high", "buckets", "resolution"),
}


def read_curated(
    name: str, raw: object, namespace: str, taken: Mapping[str, object], problems: list[Problem]
) -> Curated | None:
    """The curated metric of one table; None, with all that is wrong added to ``problems``, where there is a problem.

    ``taken`` holds the names of the metrics that devices randomise: no name stands for two things.
    """
    before = len(problems)
    table = Table(path_of("curated", name), raw, problems)
    if not isinstance(raw, Mapping):
        return None
    if not _NAME.fullmatch(name):
        table.problem(
            "", "is not a metric name", "write at most 64 small letters, digits and _, beginning with a letter"
        )
    if name in taken:
        table.problem("", "is the name of a metric under [metrics], too", "give one of them another name")
    statistic = table.choice("statistic", STATISTICS)
    noise = table.choice("noise", NOISES)
    keys: dict[str, Any] = {
        "description": table.text("description"),
        "owner": table.text("owner"),
        "expires": schema.read_expires(table),
        "period": schema.read_period(table),
        "adjacency": table.choice("adjacency", ADJACENCIES),
        "contributions": table.integer("contributions_per_period", 1, MAX_CONTRIBUTIONS),
        "sensors": table.integer("sensors", 1, MAX_SENSORS),
        "sensors_minimum": table.integer("sensors_minimum", 1, MAX_SENSORS),
        "silenced": schema.read_silence(table, LINTS),
    }
    if statistic is None or noise is None:  # nothing can be said of the other keys
        return None
    keys.update(_read_loss(table, noise))
    keys.update(_read_range(table, statistic))
    table.finish(", ".join((*COMMON_KEYS, *NOISE_KEYS[noise], *STATISTIC_KEYS[statistic])))
    if keys["sensors"] and keys["sensors_minimum"] and keys["sensors_minimum"] > keys["sensors"]:
        table.problem("sensors_minimum", "is above sensors: no gateway could work", "lower it, or raise sensors")
    if len(problems) > before:
        return None

    most = keys["sensors"] * keys["contributions"] * max(1, abs(keys["low"]), abs(keys["high"]))
    if statistic == "sum" and most > MAX_TOTAL:
        table.problem("sensors", f"the sum over all sensors could pass {MAX_TOTAL}", "lower it, or narrow low and high")
        return None
    shape = (statistic, keys["adjacency"], keys["contributions"], keys["low"], keys["high"])
    if noise == "discrete-laplace":
        scale = laplace_scale(l1_sensitivity(*shape), keys["declared"])
    else:
        scale = gaussian_scale(l2_sensitivity_squared(*shape), keys["declared"])
    if scale > LARGEST_SCALE:
        table.problem(
            NOISE_KEYS[noise][0], f"it needs noise of a scale above {LARGEST_SCALE}", "raise it, or narrow the range"
        )
        return None
    curated = Curated(namespace=namespace, name=name, statistic=statistic, noise=noise, scale=scale, **keys)
    if curated.charge_nano > curated.lifetime_nano:
        table.problem(
            NOISE_KEYS[noise][1], "does not pay for one release", f"raise it, or lower {NOISE_KEYS[noise][0]}"
        )
        return None
    return curated


def _read_loss(table: Table, noise: str) -> dict[str, Any]:
    """What a period and a life may cost, and the delta at which rho is shown."""
    loss, lifetime = NOISE_KEYS[noise][:2]
    remedy = f"write a {loss} above 0"
    declared = table.positive(loss, schema.MAX_EPSILON, "protects nobody", f"{remedy}, at most {schema.MAX_EPSILON}")
    allowed = table.positive(lifetime, schema.MAX_LIFETIME_EPSILON, "bounds nothing", remedy)
    delta = None
    if noise == "discrete-gaussian":
        delta = table.probability("delta")
        if delta is not None and delta > MAX_DELTA:
            table.problem("delta", f"{float(delta):g} is a chance to lose everything", f"write at most {MAX_DELTA}")
    return {"declared": declared, "lifetime": allowed, "delta": delta}


def _read_range(table: Table, statistic: str) -> dict[str, Any]:
    """The integers that readings are clamped to, and the buckets of a histogram."""
    if statistic == "count":
        return {"low": 0, "high": 0, "buckets": 0, "resolution": 1}
    low, high = table.integer("low", -MAX_BOUND, MAX_BOUND), table.integer("high", -MAX_BOUND, MAX_BOUND)
    buckets = table.integer("buckets", 2, MAX_BUCKETS) if statistic == "histogram" else 0
    if low is not None and high is not None:
        if low >= high:
            table.problem("high", f"is not above low = {low}", "write a larger integer")
        elif buckets and buckets > high - low + 1:
            table.problem("buckets", f"{buckets} are more than the range has integers", "use fewer")
    resolution = table.integer("resolution", 1, MAX_RESOLUTION) if table.has("resolution") else 1
    return {"low": low, "high": high, "buckets": buckets, "resolution": resolution}
