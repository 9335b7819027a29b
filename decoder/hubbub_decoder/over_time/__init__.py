"""Periods beside each other: estimates of each, whether anything changed between two, and all of them together."""

from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.over_time.compare_states import compare_asked, compare_states
from hubbub_decoder.over_time.pooling import bounded, most_reports, widened
from hubbub_decoder.over_time.read_trend import trend, trend_of
from hubbub_decoder.over_time.trend import Trend

__all__ = [
    "Change",
    "Trend",
    "bounded",
    "compare",
    "compare_asked",
    "compare_states",
    "most_reports",
    "trend",
    "trend_of",
    "widened",
]
