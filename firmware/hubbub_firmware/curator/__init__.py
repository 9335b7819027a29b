"""A gateway that sensors trust: it aggregates their readings and releases statistics with exact discrete noise.

Host only. The definitions are in ``hubbub_registry.curator``; docs/curator.md says what is promised and to whom.
"""
