"""The accuracy studies: for each mechanism a population and parameters at which its error terms all count.

The sketches are small on purpose: with few hash functions and narrow rows the collision floor is a good part of the
error, so a wrong floor cannot hide behind the noise.
"""

from __future__ import annotations

from hubbub_simulations.accuracy import Study, zipf

_HISTOGRAM = {"epsilon": 1.5, "low": -10, "high": 53, "buckets": 64, "bits": 16, "perturbation": 0.1}
_TREE = {"epsilon": 2, "low": -10, "high": 53, "buckets": 64}
_MEAN = {"epsilon": 1, "low": -10, "high": 53, "points": 5, "perturbation": 0.1}
_BASIC_RAPPOR = {"encoding": "one-hot", "epsilon": 2.5, "f": 0.5, "p": 0.5, "q": 0.75}
_BLOOM_RAPPOR = {"epsilon": 2.5, "bits": 32, "hashes": 2, "cohorts": 8, "f": 0.5, "p": 0.5, "q": 0.75}


def studies(reports: int) -> list[Study]:
    """The studies, each of ``reports`` devices over a Zipf population; a quarter of the values nobody holds."""
    population = zipf(48, 16, reports)
    # The regression's own cost grows with the cube of its values.
    smaller = zipf(24, 8, reports)
    return [
        Study("k-ary randomized response", "randomized-response", population, {"epsilon": 2}),
        Study("optimized unary encoding", "unary-encoding", population, {"epsilon": 1}),
        Study("Hadamard response, one block", "hadamard-response", population, {"epsilon": 1, "blocks": 1}),
        Study("Hadamard response, 4 blocks", "hadamard-response", population, {"epsilon": 3, "blocks": 4}),
        Study("projective geometry response", "projective-geometry-response", population, {"epsilon": 2}),
        Study("local hashing", "local-hashing", population, {"epsilon": 2, "hashes": 256}),
        Study("subset selection", "subset-selection", population, {"epsilon": 1}),
        Study("count mean sketch", "count-mean-sketch", population, {"epsilon": 4, "hashes": 128, "width": 64}),
        Study(
            "Hadamard count mean sketch",
            "hadamard-count-mean-sketch",
            population,
            {"epsilon": 4, "hashes": 64, "width": 32},
        ),
        Study(
            "sequence fragment puzzle",
            "sequence-fragment-puzzle",
            population,
            {"epsilon": 4, "hashes": 256, "fragment_hashes": 16},
        ),
        Study(
            "prefix extending method",
            "prefix-extending-method",
            population,
            {"epsilon": 3, "longest": 11, "items": 32768, "families": 2},
        ),
        Study("d-bit flip", "d-bit-flip", population, _HISTOGRAM),
        Study("hierarchical histogram", "hierarchical-histogram", population, _TREE),
        Study("one-bit mean", "one-bit-mean", population, _MEAN),
        Study("basic RAPPOR", "rappor", population, _BASIC_RAPPOR),
        Study("Bloom filter RAPPOR", "rappor", smaller, _BLOOM_RAPPOR),
    ]
