"""The state of one device as a Reporter holds it between two troubles, and the count of those."""

from hubbub_client.errors import StateError, StateInUseError
from hubbub_client.let_go import let_go
from hubbub_client.pending import Pending
from hubbub_client.reasons import reason_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.ledger import Ledger
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage

_OF_OPENING = ("device_state", "opt_out")


class Session:
    """Secret, ledger and pending reports, read when they are first asked for, and again after trouble with them.

    ``counts`` is reason -> number; ``problem`` the latest trouble in words; ``encoders`` metric's name -> encoder, as
    long as the secret and the plan they were made for are in force. The caller holds a lock over every call.
    """

    def __init__(self, storage: "Storage", source: "ByteSource", device: "bytes | None", limit: int) -> None:
        self.storage = storage
        self.source = source
        self.device = device
        self.counts: dict[str, int] = {}
        self.problem: str | None = None
        self._limit = limit
        self._state: tuple[bytes, Ledger] | None = None
        self._pending: Pending | None = None
        self.encoders: dict[str, Any] = {}

    def open_state(self) -> "tuple[bytes, Ledger]":
        """Secret and ledger, made at first use. Raises as device_state.open_state."""
        if self._state is None:
            from hubbub_client.device_state import open_state  # once in a run, so a board does not hold it

            self._state = open_state(self.storage, self.source, self.device)
            let_go(_OF_OPENING)
        return self._state

    def open_pending(self) -> Pending:
        """The reports that wait. Raises OSError."""
        if self._pending is None:
            self._pending = Pending(self.storage, self._limit, self.source, self.counts)
        return self._pending

    def ledger(self) -> "Ledger | None":
        """The ledger, or None where there is none yet. Raises as device_state.known_ledger."""
        if self._state is not None:
            return self._state[1]
        from hubbub_client.device_state import known_ledger

        return known_ledger(self.storage)

    def catch_up(self) -> None:
        """Stores the ledger before reports may leave; not one that is refused, and stays so. Raises OSError."""
        try:
            ledger = self.ledger()
        except StateInUseError:
            raise
        except StateError:
            return
        if ledger is not None:
            ledger.catch_up()

    def opted_out(self) -> bool:
        """Whether nothing may leave. Where the ledger is damaged, what was paid for before still may."""
        if self._state is not None:
            return not self._state[1].enabled
        from hubbub_client.opt_out import is_off  # only where something waited before anything was recorded

        try:
            off = is_off(self.storage)
            let_go(_OF_OPENING)
            return off
        except StateInUseError:
            raise
        except StateError:
            return False

    def forget(self) -> None:
        """What is on storage is not known for sure: everything is read again before it is next used."""
        self._state = self._pending = None
        self.encoders.clear()

    def waiting(self) -> int:
        """How many reports wait, as far as that is known."""
        return 0 if self._pending is None else self._pending.count()

    def trouble(self, error: Exception) -> str:
        """Counts an error under its reason, and returns it as text that holds no value."""
        reason = reason_of(error)
        self.count(reason, 1)
        if reason.startswith("state-") or reason in ("storage", "internal"):
            self.forget()
        self.problem = text_of(error)
        return self.problem

    def count(self, reason: str, number: int) -> None:
        """Adds to ``counts``."""
        self.counts[reason] = self.counts.get(reason, 0) + number
