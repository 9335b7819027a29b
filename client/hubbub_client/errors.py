"""What can go wrong on a device, as types.

Every message says what is wrong, where, and what to do. None ever holds a true value.
"""


class HubbubError(Exception):
    """The base of every error that hubbub raises on purpose."""


class PlanError(HubbubError):
    """A plan that is damaged, of another schema, or that promises more privacy than its integers give."""


class PlanChangeError(PlanError):
    """A remote plan that asks for more than the plan in force. ``reason`` is one of plan_change.REASONS."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class UnknownMetricError(HubbubError):
    """A metric that the plan does not define."""


class RejectedValueError(HubbubError):
    """A value that a metric does not take: wrong type, too long, or outside its values.

    ``reason`` is one of ``"type"``, ``"too-long"``, ``"not-utf-8"``, ``"not-in-values"`` and ``"dimension"``. The value
    is not kept.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class StateError(HubbubError):
    """Stored state that is damaged or cannot be written. The client then refuses to report (it fails closed)."""


class StateInUseError(StateError):
    """State that another process, or another storage object of this one, is using."""


class RolledBackError(StateError):
    """A ledger that is older than a report it paid for, or than the storage's counter."""


class OtherDeviceError(StateError):
    """State that is bound to another device than the one it is found on."""


class EntropyError(HubbubError):
    """A source of random bytes that gave fewer bytes than it was asked for."""
