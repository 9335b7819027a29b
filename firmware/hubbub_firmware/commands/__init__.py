"""The subcommands of ``hubbub`` that this package brings. Host only."""
