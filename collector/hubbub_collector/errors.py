"""What can go wrong in the collector: refusals that a client sees, and errors that an operator sees."""

from __future__ import annotations

from hubbub_client.errors import HubbubError


class CollectorError(HubbubError):
    """The collector or the sealer cannot run, or cannot go on. Says what, where, and what to do."""


class UnreadableError(CollectorError):
    """A store's file is damaged so that it cannot be used at all."""


class DamagedError(CollectorError):
    """A row of a store is not what was written. It is left where it is, and the others can be taken."""


class StoreError(HubbubError):
    """The store did not commit. What waited for that commit is not stored, and must not be acknowledged."""


class StoreFullError(StoreError):
    """The store did not commit because its disk is full."""


class StoreDamagedError(StoreError):
    """The store did not commit because its file is damaged."""


class Refusal(Exception):  # noqa: N818 - it is an answer to a client, not an error of ours
    """An answer other than success: HTTP ``status``, a stable ``code`` for programs, ``detail`` for people.

    ``retry_after`` is in seconds; None means that the same request will be refused again. ``detail`` never holds a
    part of a record.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
