"""Do the records of a batch look like those of honest devices? What can be told without knowing any value.

Parts of a record are distributed in one known way whatever the values are: a hash index is uniform, the ones of a noisy
bit vector have a known number. ``docs/poisoning.md`` says what that catches, and what nothing can.
"""

from hubbub_decoder.screen.screen import SUSPICIOUS, Screen, Verdict

__all__ = ["SUSPICIOUS", "Screen", "Verdict"]
