"""The decoder's subcommands of ``hubbub``."""
