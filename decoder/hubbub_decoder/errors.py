"""What can go wrong between sealed records and a table of estimates."""

from __future__ import annotations

from pathlib import Path

from hubbub_client.errors import HubbubError


class DecodeError(HubbubError):
    """The base of what the decoder raises, besides DatasetError for what is wrong with sealed files."""


class RecordError(DecodeError):
    """Records that this metric cannot have produced: of another width, or with a field outside its domain."""


class StateError(DecodeError):
    """Partial states that do not belong together, or bytes that are no state."""


class CandidateError(DecodeError):
    """Candidates that cannot be estimated: none at all, outside a closed domain, repeated, or too many."""


class ArgumentError(DecodeError):
    """A Python call with an argument of another type than the function takes; the message says what to pass."""


class EstimateError(DecodeError):
    """Nothing to estimate from, or a question (a level, a correction) that makes no sense."""


class HeldBackError(EstimateError):
    """A cell of a public dimension with fewer reports than its registry shows (``min_cell``)."""


class InputFileError(DecodeError):
    """A file from elsewhere that cannot be decoded: ``line`` of ``path``, from 1 on, or all of it (None)."""

    def __init__(self, path: Path, line: int | None, what: str, remedy: str) -> None:
        where = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {what}; {remedy}")


class OutputError(DecodeError):
    """Results that could not be written where they should go."""
