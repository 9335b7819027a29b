"""How much of a real word list the prefix extending method finds, and what it finds that is not there.

Devices hold names of the United States' census of 1990 (package ``names``) as often as people do, or English words
(package ``wordfreq``, which has to be installed for them) as often as they are written. Everything is the product's own
path, vectorised clients included. ``python benchmarks/decoder/discovery_prefixes.py [--lists LIST ...]
[--reports N ...] [--epsilon E ...] [--seeds K] [--set KEY=VALUE ...] [--alphabet CHARACTERS] [--json FILE]``; the
default takes about five minutes.
"""

from __future__ import annotations

import itertools
from functools import cache

from discovery_runs import NAMES, Population, as_population, census, parser_of, run_all

from hubbub_decoder.discovery import Options

LISTS = (*NAMES, "words")
MOST_WORDS = 50_000
SHARES = (0.02, 0.01, 0.005, 0.002)


@cache
def population(kind: str) -> Population:
    """The values of a list; names with a capital letter."""
    if kind == "words":
        import wordfreq  # a package that nothing else here needs

        return as_population(dict(itertools.islice(wordfreq.get_frequency_dict("en").items(), MOST_WORDS)))
    small, share = census(kind)
    return [name.title() for name in small], share


def main() -> None:
    parser = parser_of(__doc__, LISTS, [200_000, 500_000, 1_000_000], [2, 4])
    parser.add_argument("--alphabet", metavar="CHARACTERS", help="what values are made of; default: any characters")
    arguments = parser.parse_args()
    run_all("prefix-extending-method", population, arguments, Options(alphabet=arguments.alphabet), SHARES)


if __name__ == "__main__":
    main()
