"""Why a report was not made, or did not arrive: the keys of Reporter.counts. docs/client.md says what each means."""

from hubbub_client.errors import (
    EntropyError,
    HubbubError,
    OtherDeviceError,
    PlanError,
    RejectedValueError,
    RolledBackError,
    StateError,
    StateInUseError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    REASONS: tuple[str, ...]

# One text, and a tuple only where it is asked for: a board counts reasons, and lists none.
_REASONS = (
    "unknown-metric expired type too-long not-utf-8 not-in-values dimension clock clock-went-back period-used-up "
    "lifetime-used-up opted-out entropy state-damaged state-rolled-back state-of-another-device state-in-use storage "
    "full plan-refused internal dropped refused torn"
)


def __getattr__(name: str) -> object:
    if name == "REASONS":
        return tuple(_REASONS.split())
    raise AttributeError("module 'hubbub_client.reasons' has no attribute %r" % name)


class RefusalError(HubbubError):
    """No report, for ``reason``."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def reason_of(error: Exception) -> str:
    """The reason that an error is counted under."""
    if isinstance(error, (RejectedValueError, RefusalError)):
        return error.reason
    for kind, reason in (
        (StateInUseError, "state-in-use"),
        (RolledBackError, "state-rolled-back"),
        (OtherDeviceError, "state-of-another-device"),
        (StateError, "state-damaged"),
        (EntropyError, "entropy"),
        (PlanError, "plan-refused"),
        (OSError, "storage"),
    ):
        if isinstance(error, kind):
            return reason
    return "internal"


def text_of(error: Exception) -> str:
    """An error as text that holds neither a value nor a payload: only hubbub's own messages are known not to."""
    return str(error) if isinstance(error, HubbubError) else type(error).__name__
