"""What can go wrong with a bridge or a gateway, as types."""

from hubbub_client.errors import HubbubError


class BridgeError(HubbubError):
    """Settings that cannot be used, or a broker that refuses this bridge for good."""
