"""What a board does before it gives out its first random byte, in this order, each step able to end it."""

from hashlib import sha256

from hubbub_client.reasons import text_of
from hubbub_firmware.entropy.boots import EarlierBoots
from hubbub_firmware.entropy.drbg import HmacDrbg
from hubbub_firmware.entropy.generator import Entropy
from hubbub_firmware.entropy.refusal import EntropyRefusal, trouble_of
from hubbub_firmware.entropy.source import CheckedSource
from hubbub_firmware.entropy.trust import check_trust
from hubbub_firmware.trouble import Troubles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.storage import Storage
    from hubbub_firmware.entropy.raw import RawSource


def boot(raw: "RawSource", storage: "Storage", platform: str, release: "Any", device: bytes) -> Entropy:
    """What ``open_entropy`` of the package says."""
    troubles = Troubles(storage)
    try:
        check_trust(raw, platform, release)
        source = CheckedSource(raw)
        source.start_up()
        earlier = EarlierBoots(storage)
        for trouble in earlier.troubles:
            troubles.count(trouble)
        drbg = _seeded(source, earlier, device)
    except Exception as error:  # noqa: BLE001 - whatever it was, there is nothing to trust
        troubles.count(trouble_of(error))
        raise EntropyRefusal(trouble_of(error), "no random bytes on this boot: " + text_of(error)) from None
    return Entropy(source, drbg, troubles)


def _seeded(source: CheckedSource, earlier: EarlierBoots, device: bytes) -> HmacDrbg:
    """A generator made of fresh noise and of what was stored, with the next boot's seed stored already.

    The noise alone makes it strong. Seed, number and device can only add to that: they keep boots and boards apart
    should the assessed entropy of the source be wrong.
    """
    noise, nonce = source.block(), source.block()
    earlier.check_new(noise)
    drbg = HmacDrbg(
        noise, nonce, b"hubbub board" + earlier.number.to_bytes(4, "big") + sha256(earlier.seed).digest() + device
    )
    # Of the generator, which holds all seeds before it, and of noise that the generator has not seen.
    earlier.begin(noise, sha256(b"hubbub seed" + drbg.generate(32) + source.block()).digest())
    return drbg
