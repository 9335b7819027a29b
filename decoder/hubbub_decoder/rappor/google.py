"""Decodes what google/rappor collected, from the three files that its R decoder reads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from hubbub_decoder.estimates import Estimates
from hubbub_decoder.rappor.bloom import from_places
from hubbub_decoder.rappor.google_files import Map, Parameters, read_counts, read_map, read_parameters
from hubbub_decoder.rappor.outcome import estimates_of
from hubbub_decoder.rappor.regression import BitRates, fit


@dataclass(frozen=True)
class Source:
    """What the estimates are of: the counts file, and the parameters' exact epsilon."""

    name: str
    ratio: Fraction
    mechanism: str = "rappor"


def decode_files(params: Path, counts: Path, candidates: Path) -> Estimates:
    """The estimates of the candidates in the map ``candidates``. Raises InputFileError and CandidateError."""
    parameters = read_parameters(params)
    sums, reports = read_counts(counts, parameters)
    mapped = read_map(candidates, parameters)
    bits = from_places(mapped.rows.copy(), parameters.cohorts * parameters.bits)
    rates = BitRates(float(parameters.one), float(parameters.zero), _background(parameters, mapped))
    fitted = fit(bits, sums.astype(np.float64), reports.astype(np.float64), rates)
    return estimates_of(fitted, Source(counts.name, parameters.ratio), int(reports.sum()), mapped.values)


def _background(parameters: Parameters, mapped: Map) -> float:
    """The chance that a value that is not in the map sets a given bit.

    None where every value has a bit of its own (basic RAPPOR; a single bit is a boolean): other values have others.
    """
    one_each = parameters.hashes == 1 and parameters.cohorts == 1
    if parameters.bits == 1 or (one_each and len(np.unique(mapped.rows)) == len(mapped.values)):
        return 0.0
    return float(1 - (1 - Fraction(1, parameters.bits)) ** parameters.hashes)
