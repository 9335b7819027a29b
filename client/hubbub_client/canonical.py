"""One byte string for one definition, so that the same definition has the same fingerprint everywhere.

Bencoding (BEP 3) of integers, text, lists and maps: it has exactly one encoding for each thing, and fits in a few lines
on a board, where JSON sorts no keys.
"""

from hashlib import sha256

FINGERPRINT_BYTES = 8


def bencode(thing: object) -> bytes:
    """The bencoding of nested ``int``, ``str``, ``list``, ``tuple`` and ``dict`` (with text keys).

    Raises TypeError for anything else, floats and booleans among them.
    """
    if isinstance(thing, bool):
        raise TypeError("a canonical definition holds integers, text, lists and maps, not booleans")
    if isinstance(thing, int):
        return b"i%de" % thing
    if isinstance(thing, str):
        data = thing.encode()
        return b"%d:" % len(data) + data
    if isinstance(thing, (list, tuple)):
        return b"l" + b"".join([bencode(part) for part in thing]) + b"e"
    if isinstance(thing, dict):
        pairs = sorted([(key.encode(), thing[key]) for key in thing], key=lambda pair: pair[0])
        return b"d" + b"".join([b"%d:" % len(key) + key + bencode(value) for key, value in pairs]) + b"e"
    raise TypeError("a canonical definition holds integers, text, lists and maps, not %s" % type(thing).__name__)


def fingerprint(definition: "dict[str, object]") -> bytes:
    """The first 8 bytes of SHA-256 over the canonical form of ``definition``."""
    return sha256(bencode(definition)).digest()[:FINGERPRINT_BYTES]
