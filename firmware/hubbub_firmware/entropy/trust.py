"""Which sources of random bytes a port may be fed from, by port and version, with the reason in words.

``os.urandom`` means something else on each port of MicroPython. Where it is not trusted, the board is usable through a
raw source alone, whose samples are tested before they are used. What is not in the table is refused: a port that nobody
looked at is not one that is safe. docs/entropy.md has the table with what each entry rests on.
"""

from hubbub_firmware.entropy.refusal import EntropyRefusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_firmware.entropy.raw import RawSource

TRUSTED = "TRUSTED"
CONDITIONAL = "CONDITIONAL"
REFUSE = "REFUSE"

_HOST = "os.urandom is the operating system's generator"
# (sys.platform, first version, verdict on os.urandom, why, names of the sources that may be used). A star stands for
# the rest of a name. The last row whose first version is not above the board's holds.
_TABLE = (
    ("linux", (), TRUSTED, _HOST, ("system",)),
    ("darwin", (), TRUSTED, _HOST, ("system",)),
    ("win32", (), TRUSTED, _HOST, ("system",)),
    (
        "rp2", (), REFUSE, "os.urandom is a shift register over the ring oscillator, and no cryptographic generator",
        ("rp2040-rosc", "rp2350-trng"),
    ),
    (
        "rp2", (1, 28), REFUSE, "os.urandom is xoroshiro128**, and no cryptographic generator",
        ("rp2040-rosc", "rp2350-trng"),
    ),
    (
        "esp32", (), CONDITIONAL, "os.urandom is fed with noise only while the radio is on", ("esp32-rng",),
    ),
    (
        "pyboard", (), REFUSE, "os.urandom gives zeros where the hardware generator times out, and says nothing",
        ("stm32-rng",),
    ),
    (
        "nrf52*", (), REFUSE, "os.urandom is not bias corrected, and waits for ever on a dead generator",
        ("nrf52-rng",),
    ),
    ("esp8266", (), REFUSE, "os.urandom reads a register that its maker does not document", ()),
    ("samd", (), REFUSE, "os.urandom of SAMD21 has no hardware behind it; that of SAMD51 has not been reviewed", ()),
    ("mimxrt", (), REFUSE, "os.urandom ignores the status of the hardware generator", ()),
    ("webassembly", (), REFUSE, "a page has no source of noise that could be tested", ()),
)  # fmt: skip
_UNKNOWN = (REFUSE, "nobody has reviewed what os.urandom is on this port", ())


def trust(platform: str, release: "Any") -> "tuple[str, str, tuple[str, ...]]":
    """(verdict on ``os.urandom``, why, names of the raw sources that may be used).

    ``platform`` is ``sys.platform``; ``release`` is ``sys.implementation``, its version, or text such as "1.28.0".
    """
    version = _version(release)
    found: tuple[str, str, tuple[str, ...]] = _UNKNOWN
    for name, first, verdict, why, sources in _TABLE:
        matches = platform.startswith(name[:-1]) if name.endswith("*") else platform == name
        if matches and version >= first:
            found = (verdict, why, sources)
    return found


def check_trust(raw: "RawSource", platform: str, release: "Any") -> None:
    """Raises EntropyRefusal where ``raw`` is no source that this port and version may be fed from."""
    verdict, why, sources = trust(platform, release)
    if raw.name not in sources:
        advice = "use " + " or ".join(sources) if sources else "no report can be made on it"
        raise EntropyRefusal(
            "entropy", "source %s is not to be used on %s (%s: %s); %s" % (raw.name, platform, verdict, why, advice)
        )


def _version(release: "Any") -> "tuple[int, ...]":
    """The numbers at its beginning; none where there are none, which is older than everything."""
    if isinstance(release, str):
        release = release.split(".")
    else:
        release = getattr(release, "version", release)
    numbers = []
    for part in release:
        text = str(part)
        if not text.isdigit():
            break
        numbers.append(int(text))
    return tuple(numbers)
