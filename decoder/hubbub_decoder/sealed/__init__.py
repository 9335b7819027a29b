"""The sealed data set on disk: which parts there are, that each is whole and there once, and their records."""
