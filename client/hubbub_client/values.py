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


def to_bytes(value: object) -> bytes:
    """The UTF-8 bytes of a value, NFC-normalised where the interpreter can.

    Takes text, UTF-8 bytes, booleans (``true`` and ``false``) and integers (in decimal).
    Raises RejectedValueError, which does not hold the value.
    """
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        value = str(value)
    elif isinstance(value, (bytes, bytearray)):
        try:
            value = bytes(value).decode()
        except UnicodeError:
            raise RejectedValueError(
                "not-utf-8", "a value of type bytes must be UTF-8; encode the text first"
            ) from None
    elif not isinstance(value, str):
        raise RejectedValueError(
            "type", "a value must be str, bytes, bool or int, not %s; turn it into text first" % type(value).__name__
        )
    try:
        data = _nfc(value).encode()
    except UnicodeError:
        raise RejectedValueError("not-utf-8", "a value holds a lone surrogate and has no UTF-8 form") from None
    if len(data) > MAX_VALUE_BYTES:
        raise RejectedValueError(
            "too-long", "a value may take %d bytes of UTF-8, this one takes %d" % (MAX_VALUE_BYTES, len(data))
        )
    return data
