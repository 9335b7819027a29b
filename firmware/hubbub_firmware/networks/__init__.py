"""Bringing a board's network up: Wi-Fi or Ethernet, one file each. Raises OSError where it does not come up in time."""
