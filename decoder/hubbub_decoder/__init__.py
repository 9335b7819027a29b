"""Recovers what the population looks like from sealed reports: aggregate, estimate, and say how sure."""

from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import aggregate, decode, estimate, merge, partial
from hubbub_decoder.errors import CandidateError, DecodeError, EstimateError, RecordError, StateError
from hubbub_decoder.estimates import ConfidenceInterval, Estimates
from hubbub_decoder.state import State

__all__ = [
    "CandidateError",
    "ConfidenceInterval",
    "Dataset",
    "DecodeError",
    "EstimateError",
    "Estimates",
    "RecordError",
    "State",
    "StateError",
    "aggregate",
    "decode",
    "estimate",
    "merge",
    "partial",
]
