"""The subcommands of ``hubbub`` that this room brings."""
