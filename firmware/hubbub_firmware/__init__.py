"""Boards: entropy, storage and transports for MicroPython. Empty so far; `hubbub_client` itself runs there already."""
