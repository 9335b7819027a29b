"""Makes the vectors: plan, secret, value and random bytes in, record out, for every mechanism, with bad cases.

Run it from the repository's root, after a change of the format that is meant: ``python -m tests.vectors.make``.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hubbub_client.dimension import front_of
from hubbub_client.errors import HubbubError
from hubbub_client.plan import Metric, Plan, mechanism

from tests.registries import write_registry

FOLDER = Path(__file__).parent
SECRET = bytes(range(32))
PUBLISHED: dict[str, dict[str, Any]] = {
    "rappor_published": {"mechanism": "rappor", "bits": 128, "epsilon": 1.08},
    "rappor_one_hot": {
        "mechanism": "rappor", "encoding": "one-hot", "values": ["a", "b", "c"], "bits": None, "hashes": None,
        "cohorts": None, "f": 0.45, "p": 0.39, "q": 0.61,
    },
    "rappor_one_time": {"mechanism": "rappor", "reports": "one-time", "p": None, "q": None, "epsilon": 4.5},
    "hadamard_response_blocks": {
        "mechanism": "hadamard-response", "epsilon": 3, "values": [f"v{i}" for i in range(100)],
    },
    "projective_geometry_many": {
        "mechanism": "projective-geometry-response", "epsilon": 3, "values": [f"v{i}" for i in range(100)],
    },
    "local_hashing_many": {"mechanism": "local-hashing", "epsilon": 4, "hashes": 1 << 16},
    "prefix_extending_words": {"mechanism": "prefix-extending-method", "epsilon": 4, "longest": 15, "items": None},
    "sequence_fragment_puzzle_words": {
        "mechanism": "sequence-fragment-puzzle", "epsilon": 8, "hashes": None, "fragment_hashes": None, "positions": 8,
    },
    "subset_selection_many": {
        "mechanism": "subset-selection", "epsilon": 0.5, "values": ["a", "b", "c", *(f"v{i}" for i in range(61))],
    },
    "count_mean_sketch_apple": {"mechanism": "count-mean-sketch", "epsilon": 4, "hashes": 65536, "width": 1024},
    "hadamard_sketch_apple": {"mechanism": "hadamard-count-mean-sketch", "epsilon": 4, "hashes": 1024, "width": 32768},
    "one_bit_mean_perturbed": {
        "mechanism": "one-bit-mean", "epsilon": 0.5695, "low": 0, "high": 1440, "points": 2, "perturbation": 0.2,
    },
    "one_bit_mean_permanent": {"mechanism": "one-bit-mean", "points": 120, "perturbation": None},
    "d_bit_flip_one_bit": {"mechanism": "d-bit-flip", "low": -20, "bits": 1, "perturbation": None},
    "d_bit_flip_wide": {"mechanism": "d-bit-flip", "high": 1439, "buckets": 32, "bits": 16},
    "hierarchical_histogram_best": {"mechanism": "hierarchical-histogram", "levels": None, "epsilon": 2, "buckets": 64},
    "hierarchical_histogram_wide": {
        "mechanism": "hierarchical-histogram", "epsilon": 4, "low": 0, "high": 65535, "buckets": 65536, "levels": None,
    },
    "by_version": {
        "mechanism": "rappor", "bits": 16, "cohorts": 4,
        "dimension": {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other"},
    },
    "by_country": {
        "mechanism": "randomized-response", "dimension": {"name": "country", "values": ["CH", "DE"]},
    },
    "joint": {
        "mechanism": "joint", "epsilon": 3,
        "first": {"mechanism": "hadamard-count-mean-sketch", "share": 0.6, "hashes": 1024, "width": 1024},
        "second": {"mechanism": "randomized-response", "values": ["true", "false"]},
    },
    "joint_filters": {
        "mechanism": "joint", "epsilon": 6,
        "first": {
            "mechanism": "rappor", "reports": "one-time", "bits": 32, "hashes": 2, "cohorts": 4, "f": 0.5, "share": 0.8,
        },
        "second": {"mechanism": "unary-encoding", "values": ["a", "b", "c"]},
    },
    "one_row_sketch": {"mechanism": "count-mean-sketch", "hashes": 1, "width": 2},
}  # fmt: skip
VALUES = ["a", "b", "c", "v99", "naïve", "\N{GRINNING FACE}", "", "x" * 256]
INTEGERS = ["-20", "-19", "0", "7", "50", "57", "98", "99"]
NO_INTEGERS = ["100", "-21", "007", "+7", "-0", " 7", "7.0", ""]
BAD_VALUES = ["x" * 257, "not in any list"]
PAIRS: list[object] = [
    [first, second]
    for first in ("a", "naïve", "\N{GRINNING FACE}", "", "x" * 256)
    for second in ("true", "false", "a", "c", True)
]
NO_PAIRS: list[object] = ["a", [], ["a"], ["a", "b", "c"], ["x" * 257, "a"], ["a", None]]


def values_for(metric: Metric) -> Sequence[object]:
    """What the vectors of ``metric`` encode: values that it may take, and some that it does not."""
    if metric.mechanism == "joint":
        return PAIRS + NO_PAIRS
    return INTEGERS + NO_INTEGERS if "span" in metric.parameters else VALUES + BAD_VALUES


def stream(label: str, count: int) -> bytes:
    """Bytes that look random and are the same each time."""
    return b"".join(hashlib.sha256(f"{label} {i}".encode()).digest() for i in range(count // 32 + 1))[:count]


def plan_document() -> dict[str, Any]:
    """The plan that all vectors share: every mechanism at its test size, and the published settings."""
    from hubbub_registry import load_registry

    from tests.registries import MECHANISMS

    metrics: dict[str, dict[str, Any]] = {kind.replace("-", "_"): {"mechanism": kind} for kind in MECHANISMS}
    with tempfile.TemporaryDirectory() as folder:
        path = write_registry(Path(folder) / "registry.toml", {**metrics, **PUBLISHED}, "org.example.vectors")
        return dict(load_registry(path).document)


def cases(plan: Plan, name: str) -> list[dict[str, Any]]:
    """For one metric: records for each value that it takes, and the reason for each that it does not."""
    from hubbub_client.pairs import pair_bytes
    from hubbub_client.values import to_bytes

    metric = plan.metric(name)
    as_bytes = pair_bytes if metric.mechanism == "joint" else to_bytes
    encoder = mechanism(metric.mechanism).Encoder(metric, SECRET)
    made: list[dict[str, Any]] = []
    for value in values_for(metric):
        for label in ("one", "two"):
            noise = stream(f"{name} {label} {value}", encoder.random_bytes)
            case: dict[str, Any] = {"metric": name, "value": value, "random": noise.hex()}
            front = b""
            try:
                if metric.dimension is not None:  # every value in turn, and one that is none
                    named = [*metric.dimension["values"], "not in the list"]
                    case["dimension"] = named[len(made) % len(named)]
                    front = front_of(metric, case["dimension"])
                case["record"] = (front + encoder.encode(as_bytes(value), lambda _, noise=noise: noise)).hex()
            except HubbubError as error:
                case["bad"] = getattr(error, "reason", "")
            made.append(case)
            if case.get("bad", "dimension") != "dimension":
                break
    return made


def documents() -> dict[str, Any]:
    """File name -> contents."""
    document = plan_document()
    plan = Plan(document)
    files: dict[str, Any] = {"plan.json": document}
    for name in sorted(plan.metrics):
        files[f"records_{name}.json"] = {"plan": "plan.json", "secret": SECRET.hex(), "cases": cases(plan, name)}
    return files


def main() -> None:
    """Writes the files."""
    for name, document in documents().items():
        (FOLDER / name).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
