"""Collects reports: takes uploads over HTTP, keeps them on stable storage, and seals them into the data set."""
