"""Curated metrics: a gateway that sensors trust aggregates their readings and releases noisy statistics.

The second trust model of a registry, in tables ``[curated.NAME]`` beside ``[metrics.NAME]``. docs/curator.md says what
is promised, to whom, and by what arithmetic.
"""

from hubbub_registry.curator.curated import Curated

__all__ = ["Curated"]
