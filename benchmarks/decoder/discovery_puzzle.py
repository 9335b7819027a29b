"""How much of a real word list the sequence fragment puzzle finds, and what it finds that is not there.

Devices hold names of the United States' census of 1990 (package ``names``: 5,163 first names, 88,799 family names) as
often as people do. Everything is the product's own path, vectorised clients included.
``python benchmarks/decoder/discovery_puzzle.py [--lists LIST ...] [--reports N ...] [--epsilon E ...] [--seeds K]
[--set KEY=VALUE ...] [--json FILE]``; the default takes about ten minutes.
"""

from __future__ import annotations

import string

from discovery_runs import NAMES, census, parser_of, run_all

from hubbub_decoder.discovery import Options

LETTERS = Options(alphabet=string.ascii_lowercase)
SHARES = (0.01, 0.005, 0.003, 0.002)


def main() -> None:
    arguments = parser_of(__doc__, tuple(NAMES), [300_000, 1_000_000], [4, 8]).parse_args()
    run_all("sequence-fragment-puzzle", census, arguments, LETTERS, SHARES)


if __name__ == "__main__":
    main()
