"""Where a client keeps its state: seven operations, which a board can give over flash and a test over a dict.

A name is short ASCII text of letters, digits and dashes. Every operation raises OSError where it fails.

``read(name)``
    The bytes, or None where there is no such name.
``write(name, data)``
    Replaces the whole content, atomically and durably: whenever the power fails, ``read`` gives all of the old or all
    of the new, and once ``write`` has returned it gives the new.
``append(name, data)``
    Adds to the end, durably once it has returned. Only what is being added may be torn by a failure.
``rename(old, new)``
    Atomic and durable; ``new`` does not exist before.
``remove(name)``
    Durable enough that a name seldom comes back; nothing breaks where one does.
``names()``
    A list of the names, in any order.
``close()``
    Gives the state free for another process.

A storage may have a ``counter`` besides: what only counts up, outside of what a backup restores (a TPM's NV counter, a
board's fuses or a replay-protected memory block). ``counter.read()`` gives its integer, 0 when new;
``counter.advance(to)`` durably raises it to at least ``to``: one more than before, or a few after crashes. With it,
state that was rolled back or deleted as a whole is noticed; without it that is not possible.

A storage that wears may have ``journal = True``: what a report cost is then stored in the same ``append`` as the report
(journal.py), so that a report is one write and not two.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Storage(Protocol):
        """The seven operations, for type checkers; the module's text says what each promises."""

        def read(self, name: str) -> bytes | None: ...  # noqa: D102
        def write(self, name: str, data: bytes) -> None: ...  # noqa: D102
        def append(self, name: str, data: bytes) -> None: ...  # noqa: D102
        def rename(self, old: str, new: str) -> None: ...  # noqa: D102
        def remove(self, name: str) -> None: ...  # noqa: D102
        def names(self) -> list[str]: ...  # noqa: D102
        def close(self) -> None: ...  # noqa: D102

    class Counter(Protocol):
        """A counter that never goes back, for type checkers."""

        def read(self) -> int: ...  # noqa: D102
        def advance(self, to: int) -> None: ...  # noqa: D102


class MemoryStorage:
    """State that lasts as long as the object: for tests and simulations. A device that forgets its budget has none."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.counter: Counter | None = None

    def read(self, name: str) -> "bytes | None":
        """The bytes, or None."""
        return self.files.get(name)

    def write(self, name: str, data: bytes) -> None:
        """Replaces the content."""
        self.files[name] = data

    def append(self, name: str, data: bytes) -> None:
        """Adds to the end."""
        self.files[name] = self.files.get(name, b"") + data

    def rename(self, old: str, new: str) -> None:
        """Gives a content another name."""
        if old not in self.files:
            raise OSError(2, "there is no " + old)
        self.files[new] = self.files.pop(old)

    def remove(self, name: str) -> None:
        """Forgets a content."""
        if name not in self.files:
            raise OSError(2, "there is no " + name)
        del self.files[name]

    def names(self) -> "list[str]":
        """All names."""
        return list(self.files)

    def close(self) -> None:
        """Nothing to give free."""
