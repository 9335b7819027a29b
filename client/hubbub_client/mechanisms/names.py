"""The names of the mechanisms, for hosts: a board asks for the one that its plan has, see ``module_name``."""

from hubbub_client.mechanisms import COMPOSITE_TABLE, TABLE

NAMES = tuple(TABLE.split())
# Mechanisms made of others: what they take is no single value, and what they give no list of counts.
COMPOSITES = tuple(COMPOSITE_TABLE.split())
