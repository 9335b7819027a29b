from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_client import EntropyError
from hubbub_firmware.entropy.drbg import MOST_BYTES, RESEED_LIMIT, HmacDrbg

VECTORS = Path(__file__).parents[2] / "vectors" / "hmac_drbg_sha256.rsp"


def cases() -> list[dict[str, list[bytes]]]:
    """Each case of the file: name -> its values, in order."""
    found: list[dict[str, list[bytes]]] = []
    for line in VECTORS.read_text().splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("COUNT"):
            found.append({})
        elif equals and not line.startswith(("#", "[")):
            found[-1].setdefault(name.strip(), []).append(bytes.fromhex(value.strip()))
    return found


CASES = cases()


def test_every_vector_of_nist() -> None:
    """Each CAVP case, with and without personalisation and additional input, gives the bytes that it should."""
    assert len(CASES) == 128
    for case in CASES:
        drbg = HmacDrbg(*(case[name][0] for name in ("EntropyInput", "Nonce", "PersonalizationString")))
        if "EntropyInputReseed" in case:
            drbg.reseed(case["EntropyInputReseed"][0], case["AdditionalInputReseed"][0])
        first, second = case["AdditionalInput"]
        (expected,) = case["ReturnedBits"]
        drbg.generate(len(expected), first)
        assert drbg.generate(len(expected), second) == expected


def made() -> HmacDrbg:
    return HmacDrbg(b"e" * 32, b"n" * 16)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 100])
def test_a_request_is_cut_to_its_length(count: int) -> None:
    """Any length is the beginning of a longer request's answer."""
    assert made().generate(count) == made().generate(128)[:count]


def test_limits_of_a_request() -> None:
    """65,536 bytes at a time are given; one more, or fewer than none, are an error that changes nothing."""
    drbg = made()
    for count in (MOST_BYTES + 1, -1):
        with pytest.raises(ValueError, match="ask for 0 to 65536"):
            drbg.generate(count)
    assert drbg.requests == 1
    assert len(drbg.generate(MOST_BYTES)) == 65536


def test_the_reseed_counter_is_the_standards() -> None:
    """1 when made and after a reseed, one more after each request; past the limit nothing comes before a reseed."""
    drbg = made()
    assert drbg.requests == 1
    drbg.generate(0)
    assert drbg.requests == 2
    assert RESEED_LIMIT == 65_536
    drbg.requests = RESEED_LIMIT
    drbg.generate(1)
    with pytest.raises(EntropyError, match="must be reseeded"):
        drbg.generate(1)
    drbg.reseed(b"f" * 32)
    assert drbg.requests == 1
    drbg.generate(1)


@pytest.mark.parametrize(("entropy", "nonce"), [(31, 16), (32, 15), (0, 32)])
def test_too_little_makes_no_generator(entropy: int, nonce: int) -> None:
    """Less entropy than the security strength, or less nonce than half of it, is refused."""
    with pytest.raises(EntropyError, match="could be guessed"):
        HmacDrbg(bytes(entropy), bytes(nonce))
    HmacDrbg(bytes(32), bytes(16))


def test_more_than_enough_is_taken() -> None:
    """Longer entropy, nonces and reseeds go in whole."""
    outputs = set()
    for entropy, nonce, again in ((32, 16, 32), (48, 16, 32), (32, 24, 32), (32, 16, 48)):
        drbg = HmacDrbg(bytes(entropy), bytes(nonce))
        drbg.reseed(bytes(again))
        outputs.add(drbg.generate(32))
    assert len(outputs) == 4


def test_too_little_is_no_reseed() -> None:
    """A reseed of 31 bytes is refused and changes nothing."""
    drbg = made()
    with pytest.raises(EntropyError, match="31 bytes"):
        drbg.reseed(bytes(31))
    assert drbg.generate(32) == made().generate(32)
