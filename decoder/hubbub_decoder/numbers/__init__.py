"""Numbers as a distribution: the ranges and quantiles that hierarchical histograms tell (``docs/numbers.md``)."""

from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.quantiles import QuantileInterval, Quantiles
from hubbub_decoder.numbers.ranges import Ranges

__all__ = ["Distribution", "QuantileInterval", "Quantiles", "Ranges"]
