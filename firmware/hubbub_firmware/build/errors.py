"""What can go wrong when a folder for a board is built or checked."""

from __future__ import annotations

from hubbub_client.errors import HubbubError


class BuildError(HubbubError):
    """A folder that cannot be built. Nothing is left half-written."""


class CheckError(HubbubError):
    """A folder that cannot be checked at all: there is no interpreter, or it is no folder that was built."""
