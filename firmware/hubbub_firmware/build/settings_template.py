"""``settings.json`` as a build leaves it: every key with its default, for people to fill in."""

from __future__ import annotations

import json

from hubbub_firmware.settings import keys_of


def settings_template(transport: str) -> bytes:
    """The template for a transport. It holds no secret; docs/firmware.md says what each key means."""
    return (json.dumps(keys_of(transport), indent=2) + "\n").encode()
