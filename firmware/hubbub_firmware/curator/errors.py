"""What can go wrong in a gateway that curates. No message ever holds a reading's value, or a sensor's name."""

from __future__ import annotations

from hubbub_client.errors import HubbubError


class CuratorError(HubbubError):
    """Curating cannot go on as it was asked to."""


class ReadingError(CuratorError):
    """A line of readings that is none. Nothing of the same input is taken."""


class EnrolmentError(CuratorError):
    """A list of sensors that does not fit the registry."""


class NoiseError(CuratorError):
    """No exact noise is to be had: nothing is released."""
