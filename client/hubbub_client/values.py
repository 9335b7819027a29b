"""From what an app hands over to the bytes that are hashed."""

from hubbub_client.errors import RejectedValueError

try:
    from unicodedata import normalize

    def _nfc(text: str) -> str:
        return normalize("NFC", text)

except ImportError:  # a board: it sends text as it is

    def _nfc(text: str) -> str:
        return text


MAX_VALUE_BYTES = 256
_TOO_LARGE = 10**MAX_VALUE_BYTES


def to_bytes(value: object) -> bytes:
    """The UTF-8 bytes of a value, NFC-normalised where the interpreter can.

    Takes text, UTF-8 bytes, booleans (``true`` and ``false``) and integers (in decimal).
    Raises RejectedValueError, which does not hold the value.
    """
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        if not -_TOO_LARGE < value < _TOO_LARGE:  # before making text of it, which some interpreters refuse to
            raise RejectedValueError("too-long", "an integer may have %d digits" % MAX_VALUE_BYTES)
        value = str(value)
    elif isinstance(value, (bytes, bytearray)):
        value = _text_of(bytes(value))
    elif not isinstance(value, str):
        raise RejectedValueError(
            "type", "a value must be str, bytes, bool or int, not %s; turn it into text first" % type(value).__name__
        )
    data = _bytes_of(value)
    if data is None:
        raise RejectedValueError("not-utf-8", "a value has no UTF-8 form; encode or clean the text first")
    if len(data) > MAX_VALUE_BYTES:
        raise RejectedValueError(
            "too-long", "a value may take %d bytes of UTF-8, this one takes %d" % (MAX_VALUE_BYTES, len(data))
        )
    return data


# A UnicodeError holds the text it was raised for. These two let it go before another error is raised, which would keep
# it as its context, for a crash reporter to find.
def _text_of(data: bytes) -> "str | None":
    try:
        return data.decode()
    except UnicodeError:
        return None


def _bytes_of(text: "str | None") -> "bytes | None":
    try:
        return None if text is None else _nfc(text).encode()
    except UnicodeError:
        return None
