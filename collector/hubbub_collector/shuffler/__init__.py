"""The shuffler, which another party runs: it takes sealed reports, mixes those of many devices, and passes them on.

It has no key, and nothing in here can open a report. docs/shuffling.md says what it is trusted with.
"""
