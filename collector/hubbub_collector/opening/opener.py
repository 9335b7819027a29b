"""Opens the ciphertexts of a batch, and checks each record as the intake checks those that come without a shuffler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hubbub_collector.errors import Refusal
from hubbub_collector.opening.keys import PrivateKey
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.upload import Batch, Validator, pack
from hubbub_sealing.record import unpack

UNDECRYPTABLE = "undecryptable"
MALFORMED = "malformed"


@dataclass
class Opened:
    """What a batch held. ``body`` is one upload for each record of a known metric, end to end, as a store takes them;
    ``lost`` counts by reason what is no use to anybody.
    """

    body: bytes = b""
    records: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    lost: Counter[str] = field(default_factory=Counter)


class Opener:
    """Opens with the key that a batch is sealed to. ``validator`` may be replaced."""

    def __init__(self, keys: Iterable[PrivateKey], validator: Validator) -> None:
        self._keys = {key.id: key for key in keys}
        self.validator = validator

    def open(self, key_id: bytes, ciphertexts: Sequence[bytes], now: float) -> Opened:
        """What is in ``ciphertexts``, received at Unix time ``now``. Raises Refusal (400) for a key that is not here.

        A record's own id is the upload id that it is stored under: so it counts once, in however many ciphertexts and
        batches it comes, and nothing says which records came from one device.
        """
        key = self._keys.get(key_id)
        if key is None:
            raise Refusal(400, "key-unknown", "no key of that id opens batches here")
        opened = Opened()
        bodies: list[bytes] = []
        unknown: list[Quarantined] = []
        for ciphertext in ciphertexts:
            plaintext = key.open(ciphertext)
            if plaintext is None:
                opened.lost[UNDECRYPTABLE] += 1
                continue
            try:
                id, fingerprint, period, record = unpack(plaintext)
                batch = Batch(fingerprint, period, record)
                count = self.validator.check_batch(0, batch, now)
            except ValueError:
                opened.lost[MALFORMED] += 1
            except Refusal as refused:
                opened.lost[refused.code] += 1
            else:
                if count is None:
                    unknown.append(Quarantined(id, 0, batch))
                elif count == 1:
                    bodies.append(pack(id, [batch]))
                else:  # several records in one: nobody's count is to depend on that
                    opened.lost["record-length"] += 1
        opened.body, opened.records, opened.quarantined = b"".join(bodies), len(bodies), tuple(unknown)
        return opened
