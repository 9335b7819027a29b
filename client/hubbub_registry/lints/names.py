"""The names of the checks, in one place, so that the schema can refuse to silence one that does not exist."""

LINTS = frozenset(
    {
        "expired",
        "expires-far",
        "epsilon-high",
        "lifetime-unbounded",
        "lifetime-high",
        "lifetime-short",
        "collision-floor",
        "better-mechanism",
        "memoisation",
        "no-candidates",
        "cohorts",
        "dimension-thin",
        "dimension-of-values",
    }
)
