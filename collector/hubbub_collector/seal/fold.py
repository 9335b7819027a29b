"""Cells of a public dimension that are too small to hide in: they become part of the value that stands for the rest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_registry import Metric


def fold(metric: Metric, records: npt.NDArray[np.uint8]) -> None:
    """Puts cells below ``min_cell`` of a part under the dimension's ``other``; ``records`` (n, record_bytes) change.

    No record is lost, and of none more than its first byte changes. They stay as they are where the metric has no
    dimension, or none with an ``other``: then the decoder holds such cells back, and whoever reads the files does not.
    """
    split = metric.dimension
    if split is None or split.other is None:
        return
    sizes = np.bincount(records[:, 0], minlength=len(split.values))
    own = np.where(sizes < split.min_cell, split.values.index(split.other), np.arange(len(sizes))).astype(np.uint8)
    records[:, 0] = own[records[:, 0]]
