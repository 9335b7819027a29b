"""Recovers what the population looks like from sealed reports: aggregate, estimate, and say how sure."""

from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import aggregate, decode, decode_mean, estimate, estimate_mean, merge, partial
from hubbub_decoder.errors import (
    ArgumentError,
    CandidateError,
    DecodeError,
    EstimateError,
    HeldBackError,
    RecordError,
    StateError,
)
from hubbub_decoder.estimates import ConfidenceInterval, Estimates
from hubbub_decoder.joint import JointEstimates, decode_joint, estimate_joint
from hubbub_decoder.mean import Mean, MeanInterval
from hubbub_decoder.numbers import QuantileInterval, Quantiles, Ranges
from hubbub_decoder.numbers.decode import decode_quantiles, decode_ranges, quantiles, ranges
from hubbub_decoder.over_time import Change, Trend, compare, compare_states, trend
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.split.decode_by import decode_by
from hubbub_decoder.split.result import Split

__all__ = [
    "ArgumentError",
    "CandidateError",
    "Change",
    "ConfidenceInterval",
    "Dataset",
    "DecodeError",
    "EstimateError",
    "Estimates",
    "HeldBackError",
    "JointEstimates",
    "Mean",
    "MeanInterval",
    "QuantileInterval",
    "Quantiles",
    "Ranges",
    "RecordError",
    "Split",
    "State",
    "StateCache",
    "StateError",
    "Trend",
    "aggregate",
    "compare",
    "compare_states",
    "decode",
    "decode_by",
    "decode_joint",
    "decode_mean",
    "decode_quantiles",
    "decode_ranges",
    "estimate",
    "estimate_joint",
    "estimate_mean",
    "merge",
    "partial",
    "quantiles",
    "ranges",
    "trend",
]
