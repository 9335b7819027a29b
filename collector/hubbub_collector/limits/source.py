"""Who sent a request, as a hash that means nothing an hour later."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections.abc import Callable, Sequence

from aiohttp import web

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

ROTATE_SECONDS = 3600.0
_FORWARDED = "X-Forwarded-For"
_MOST_HOPS = 32
"""Entries of X-Forwarded-For that are looked at, from the right."""
_V6_NETWORK_BYTES = 8
"""An IPv6 customer has a /64 at least, and may send from any address of it."""


class Sources:
    """Names sources by a keyed hash (BLAKE2b, 8 bytes) of their address. The key is random, is only in memory and is
    thrown away after an hour; no address is kept.
    """

    def __init__(
        self, trusted: Sequence[str] = (), clock: Callable[[], float] = time.monotonic,
        rotated: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """``trusted`` are networks (CIDR) whose X-Forwarded-For is believed. ``rotated`` is called with a new key: what
        was kept under hashes of the old one is of no use any more. Raises ValueError for what is no network.
        """
        self._trusted: list[Network] = [ipaddress.ip_network(network) for network in trusted]
        self._clock = clock
        self._rotated = rotated
        self._key = os.urandom(32)
        self._until = clock() + ROTATE_SECONDS

    def of(self, request: web.BaseRequest) -> bytes:
        """The source of ``request``."""
        now = self._clock()
        if now >= self._until:
            self._key = os.urandom(32)
            self._until = now + ROTATE_SECONDS
            self._rotated()
        return hashlib.blake2b(self._packed(request), digest_size=8, key=self._key).digest()

    def _packed(self, request: web.BaseRequest) -> bytes:
        peer = request.transport.get_extra_info("peername") if request.transport is not None else None
        address = _address(peer[0]) if isinstance(peer, tuple) else None
        if address is None:
            return b""  # a local socket, or gone already: all of these are one source
        if self._trusted and self._trusts(address):
            address = self._forwarded(request, address)
        return address.packed if address.version == 4 else address.packed[:_V6_NETWORK_BYTES]

    def _forwarded(self, request: web.BaseRequest, proxy: Address) -> Address:
        """The last address in X-Forwarded-For that no trusted proxy has. Entries to the left of it are hearsay. Where
        an entry is no address, the proxy that sent it is the source.
        """
        hops = [hop for line in request.headers.getall(_FORWARDED, ()) for hop in line.split(",")]
        for hop in reversed(hops[-_MOST_HOPS:]):
            address = _address(hop.strip())
            if address is None:
                return proxy
            if not self._trusts(address):
                return address
            proxy = address
        return proxy

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address if mapped is None else mapped
