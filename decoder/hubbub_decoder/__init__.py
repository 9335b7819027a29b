"""Recovers what the population looks like from sealed reports: aggregate, estimate, and say how sure."""

from hubbub_decoder.cache import StateCache
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import aggregate, decode, decode_mean, estimate, estimate_mean, merge, partial
from hubbub_decoder.errors import ArgumentError, CandidateError, DecodeError, EstimateError, RecordError, StateError
from hubbub_decoder.estimates import ConfidenceInterval, Estimates
from hubbub_decoder.mean import Mean, MeanInterval
from hubbub_decoder.over_time import Change, Trend, compare, compare_states, trend
from hubbub_decoder.state import State

__all__ = [
    "ArgumentError",
    "CandidateError",
    "Change",
    "ConfidenceInterval",
    "Dataset",
    "DecodeError",
    "EstimateError",
    "Estimates",
    "Mean",
    "MeanInterval",
    "RecordError",
    "State",
    "StateCache",
    "StateError",
    "Trend",
    "aggregate",
    "compare",
    "compare_states",
    "decode",
    "decode_mean",
    "estimate",
    "estimate_mean",
    "merge",
    "partial",
    "trend",
]
