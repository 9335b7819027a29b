"""Stands in for an ESP32's ``esp32``: non-volatile storage in memory, which lasts as long as the check."""

_NOT_FOUND = -0x1102
_spaces = {}


class NVS:
    """Keys of up to 15 characters, with blobs and integers."""

    def __init__(self, namespace):
        self._values = _spaces.setdefault(namespace, {})

    def _get(self, key):
        if len(key) > 15:
            raise ValueError("key too long")
        if key not in self._values:
            raise OSError(_NOT_FOUND, "ESP_ERR_NVS_NOT_FOUND")
        return self._values[key]

    def get_blob(self, key, buffer):
        """Fills the buffer, and says with how much."""
        value = self._get(key)
        buffer[: len(value)] = value
        return len(value)

    def set_blob(self, key, value):
        """Sets it."""
        if len(key) > 15:
            raise ValueError("key too long")
        self._values[key] = bytes(value)

    def get_i32(self, key):
        """An integer."""
        return self._get(key)

    def set_i32(self, key, value):
        """Sets it."""
        self._values[key] = value

    def erase_key(self, key):
        """Forgets it."""
        self._get(key)
        del self._values[key]

    def commit(self):
        """Done."""
