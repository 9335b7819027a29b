"""Which mechanism fits a metric best, and how exact it would be: what ``hubbub check --advise`` says."""

from hubbub_registry.advice.choose import Advice, advise
from hubbub_registry.advice.conditions import DEFAULT_REPORTS, AdviceError, Conditions, read_bytes, read_reports
from hubbub_registry.advice.printing import advice_as_json, advice_as_text

__all__ = [
    "DEFAULT_REPORTS", "Advice", "AdviceError", "Conditions", "advice_as_json", "advice_as_text", "advise",
    "read_bytes", "read_reports",
]  # fmt: skip
