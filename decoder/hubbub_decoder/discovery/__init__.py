"""Unknown dictionaries: strings that nobody named, found in the reports and then counted in reports set aside.

A mechanism of unknown strings has in its decoder module, beside ``partial``, ``merge`` and ``estimate``,

``discover(metric, state, options) -> Found``
    the strings that the reports point to, NFC-normalised and distinct, of a state of one report at least. No string is
    found by reports that ``estimate`` counts it in: it is tested in those that had no say in finding it, so that
    p-values and intervals mean what they say. ``estimate`` of no candidates at all gives an empty table.
"""

from hubbub_decoder.discovery.discovered import Discovered
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.discovery.listing import discover, discover_in
from hubbub_decoder.discovery.mechanisms import can_discover, check_discovers

__all__ = ["Discovered", "Found", "Options", "can_discover", "check_discovers", "discover", "discover_in"]
