"""Raw samples, tested, and hashed into bytes of full entropy (SP 800-90B, sections 3.1.5 and 4)."""

from hashlib import sha256

from hubbub_firmware.entropy.health import HealthTests
from hubbub_firmware.entropy.refusal import EntropyRefusal
from hubbub_firmware.entropy.replay import ReplayTest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_firmware.entropy.raw import RawSource

# Samples that are tested and thrown away before the first one is used: the standard's least.
START_UP_SAMPLES = 1024
_BLOCK_BITS = 256
# Bits of min-entropy that go into a block beyond what it holds: with 64 of them its output has full entropy.
_SURPLUS_BITS = 64
# An assessed entropy is an estimate. A source with half of it still fills its blocks.
_MARGIN = 2
_AT_ONCE = 1024


class CheckedSource:
    """A raw source behind its health tests. An error of any method is final: the tests have lost their thread after it.

    Raises EntropyError where the source assesses itself at a figure that there is no cut-off for.
    """

    def __init__(self, raw: "RawSource") -> None:
        self._raw = raw
        self._health = HealthTests(raw.sample_bits, raw.entropy_milli)
        self._replay = ReplayTest(raw.entropy_milli)
        self._block_samples = _ceil(_MARGIN * (_BLOCK_BITS + _SURPLUS_BITS) * 1000, raw.entropy_milli)

    def ready(self) -> bool:
        """Whether what the source depends on is there. Raises EntropyRefusal where that cannot be told."""
        try:
            return self._raw.ready()
        except Exception as error:  # noqa: BLE001 - whatever it was, nobody knows whether there is noise
            raise self._failed(error) from None

    def start_up(self) -> None:
        """The start-up tests. Raises EntropyRefusal where the source fails one, or fails."""
        from hubbub_firmware.entropy.lags import check_lags

        samples = self._samples(START_UP_SAMPLES)
        check_lags(samples, self._raw.sample_bits, self._raw.entropy_milli)

    def block(self) -> bytes:
        """32 bytes of full entropy from fresh samples. Raises EntropyRefusal as ``start_up``."""
        digest = sha256(b"hubbub noise")
        left = self._block_samples
        while left:
            samples = self._samples(min(left, _AT_ONCE))
            digest.update(samples)
            left -= len(samples)
        return digest.digest()

    def _samples(self, count: int) -> bytes:
        self._check_ready()
        try:
            samples = bytes(self._raw.sample(count))
        except Exception as error:  # noqa: BLE001 - whatever the hardware raises, it gave no noise
            raise self._failed(error) from None
        self._check_ready()
        if len(samples) != count:
            raise EntropyRefusal(
                "entropy", "source %s gave %d samples where %d were asked for" % (self._raw.name, len(samples), count)
            )
        if max(samples) >> self._raw.sample_bits:
            raise EntropyRefusal("entropy", "source %s gave a sample that it cannot have" % self._raw.name)
        self._health.take(samples)
        self._replay.take(samples)
        return samples

    def _check_ready(self) -> None:
        if not self.ready():
            raise EntropyRefusal(
                "entropy", "source %s is not ready; switch on what it depends on, such as the radio" % self._raw.name
            )

    def _failed(self, error: Exception) -> EntropyRefusal:
        words = str(error) or type(error).__name__
        return EntropyRefusal("entropy", "source %s failed: %s" % (self._raw.name, words))


def _ceil(number: int, divisor: int) -> int:
    return (number + divisor - 1) // divisor
