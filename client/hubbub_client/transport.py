"""How an upload leaves the device, and what came back.

A transport is any object with ``send(body: bytes) -> Answer``. It raises where no answer came; what it raises does not
matter, the upload is kept. A board brings its own.
"""

from hubbub_client.errors import HubbubError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Transport(Protocol):
        """What a Reporter sends through, for type checkers."""

        def send(self, body: bytes) -> "Answer": ...  # noqa: D102


class TransportError(HubbubError):
    """No answer: a URL that cannot be used, or a connection that failed, timed out or spoke something else."""


class Answer:
    """A collector's answer: its HTTP status, how many seconds it asks to wait (or None), and the start of its text."""

    def __init__(self, status: int, retry_after: "int | None" = None, text: str = "") -> None:
        self.status = status
        self.retry_after = retry_after
        self.text = text
