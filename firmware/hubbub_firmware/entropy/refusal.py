"""Why a board gives no random bytes: an error that knows which count of trouble.py it belongs to."""

from hubbub_client.errors import EntropyError


class EntropyRefusal(EntropyError):  # noqa: N818 - a refusal is what it is
    """No random bytes, for good until the board boots again. ``trouble`` is one of trouble.REASONS."""

    def __init__(self, trouble: str, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


def trouble_of(error: Exception) -> str:
    """The count that an error belongs to: what is neither a refusal nor the storage's is the source's."""
    if isinstance(error, EntropyRefusal):
        return error.trouble
    return "storage" if isinstance(error, OSError) else "entropy"
