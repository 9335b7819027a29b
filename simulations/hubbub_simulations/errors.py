"""What can go wrong in a simulation, as types. No message holds a value that a device reports."""

from __future__ import annotations

from hubbub_client.errors import HubbubError


class ValuesFileError(HubbubError):
    """A file of values that cannot be used. The message names the file and, where there is one, the line."""


class FleetError(HubbubError):
    """A fleet that cannot report: the collector does not answer, or it refused uploads."""


class PeerUnavailableError(HubbubError):
    """A peer that cannot be run here, so that its figures are missing. The message says why."""
