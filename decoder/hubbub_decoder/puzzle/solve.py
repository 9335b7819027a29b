"""From the sketch of fragments to strings: evidence at every position, joined piece by piece, and checked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import numpy as np

from hubbub_client.mechanisms.sequence_fragment_puzzle import PAD, puzzle_piece
from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.puzzle.alphabet import USUAL, Fragments, fragments_of
from hubbub_decoder.puzzle.evidence import Evidence
from hubbub_decoder.puzzle.joining import join
from hubbub_registry import Metric

# Fragments x pieces, of which the keys take 128 MiB; and times positions, of which the scores take 256 MiB.
MOST_ITEMS, MOST_SCORES = 1 << 23, 1 << 26
_SHOWN = 100  # characters of an alphabet, in a note


def solve(metric: Metric, state: State, options: Options) -> Found:
    """The strings that the sketch of fragments points to. Raises EstimateError for an alphabet that is too large."""
    p = metric.device.parameters
    alphabet = USUAL if options.alphabet is None else options.alphabet
    fragments = _fragments(metric, alphabet)
    every = (*fragments.full, *fragments.ended)
    positions, pieces = 1 << p["positions_bits"], 1 << p["piece_bits"]
    evidence = Evidence(metric, state, every)
    scores = np.empty((positions, pieces, len(every)), np.float32)
    for position in range(positions):
        options.progress(position / (positions + 1))
        scores[position] = evidence.at(position)
    options.progress(positions / (positions + 1))
    found: set[str] = set()
    for piece in range(pieces):
        for joined in join(scores[:, piece], len(fragments.full), options.kept):
            text = spelt(b"".join([every[i] for i in joined]).rstrip(PAD), piece, p)
            if text is not None:
                found.add(text)
    options.progress(1.0)
    return Found(tuple(sorted(found)), tuple(_notes(metric, alphabet)))


def _fragments(metric: Metric, alphabet: str) -> Fragments:
    fragments = fragments_of(alphabet, metric.device.parameters["fragment_bytes"])
    tried = (len(fragments.full) + len(fragments.ended)) << metric.device.parameters["piece_bits"]
    most = min(MOST_ITEMS, MOST_SCORES >> metric.device.parameters["positions_bits"])
    if tried > most:
        raise EstimateError(
            f"metric {metric.name}: {len(set(alphabet))} characters make {tried:,} fragments with a piece at each "
            f"position, more than {most:,}; name fewer characters as the alphabet"
        )
    return fragments


def spelt(data: bytes, piece: int, parameters: dict[str, int]) -> str | None:
    """The string of ``data``, if ``piece`` is its own and a device could have sent it; else None.

    Fragments that do not belong together spell something that has another piece, but for one in 2**piece_bits.
    """
    if puzzle_piece(data, parameters) != piece:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if unicodedata.is_normalized("NFC", text) else None


def _notes(metric: Metric, alphabet: str) -> Iterator[str]:
    p = metric.device.parameters
    longest = p["fragment_bytes"] << p["positions_bits"]
    characters = "".join(sorted(set(alphabet)))
    if len(characters) > _SHOWN:
        characters = characters[:_SHOWN] + "..."
    yield (
        f"looked for texts of at most {longest} bytes over the {len(set(alphabet))} characters {characters!r}; others "
        "are not found, and are counted where they are named as candidates"
    )
