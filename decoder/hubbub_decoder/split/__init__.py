"""Figures split by a metric's public dimension: one cell for each value that is sent in the clear beside a report."""
