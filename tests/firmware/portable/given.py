"""What the programs are held against, made by libraries and formulas other than hubbub's own."""

from __future__ import annotations

import copy
import hashlib
import hmac
import random
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

import msgpack
import xxhash

MASK = (1 << 64) - 1


def hashes() -> dict[str, list[Any]]:
    """XXH32 by the xxhash package; SplitMix64 as a state machine; buckets by the formula over big integers."""
    chooser = random.Random(1)
    data = [chooser.randbytes(count) for count in [*range(20), 31, 32, 33, 64, 256]]
    salts = [0, 1, (1 << 30) - 1, 1 << 30, 1 << 31, (1 << 62) - 1, 1 << 63, MASK, chooser.getrandbits(64)]
    streams = [(salt, index, output) for salt in salts for index, output in enumerate(_splitmix(salt, 7))]
    buckets = []
    for salt in salts:
        for index in (0, 1, 1023):
            low, high = chooser.getrandbits(32), chooser.getrandbits(32)
            a1, a2, b = _splitmix(salt, 3 * index + 3)[-3:]
            mixed = ((a1 + high) * (a2 + low) + b) % (1 << 64)
            buckets += [(low, high, salt, index, bits, mixed >> (64 - bits)) for bits in (1, 7, 10, 15, 16, 32)]
    canonical = "d1:ai-1e1:bl4:naïe1:zd2:xy0:ee".encode()  # as BEP 3 writes the definition below
    return {
        "xxh32": [(d.hex(), seed, xxhash.xxh32_intdigest(d, seed)) for d in data for seed in (0, 1, 2**31, 2**32 - 1)],
        "item_key": [
            (d.hex(), salt, xxhash.xxh32_intdigest(d, salt % 2**32), xxhash.xxh32_intdigest(d, salt >> 32))
            for d in data[:20] for salt in salts
        ],
        "splitmix64": streams,
        "bucket": buckets,
        "fingerprint": [({"z": {"xy": ""}, "b": ["naï"], "a": -1}, hashlib.sha256(canonical).hexdigest()[:16])],
    }  # fmt: skip


def streams() -> dict[str, list[Any]]:
    """HMAC by CPython; the key derivation as SP 800-108r1 writes it, over that."""
    chooser = random.Random(2)
    macs, expanded = [], []
    for size in (0, 1, 63, 64, 65, 200):
        key, message = chooser.randbytes(size), chooser.randbytes(3 * size)
        macs.append((key.hex(), message.hex(), hmac.digest(key, message, "sha256").hex()))
    for count in (0, 1, 31, 32, 33, 300):
        secret, context = chooser.randbytes(32), chooser.randbytes(20)
        tail = b"hubbub label\x00" + context + (8 * count).to_bytes(4, "big")
        blocks = b"".join(hmac.digest(secret, i.to_bytes(4, "big") + tail, "sha256") for i in range(1, 12))
        expanded.append((secret.hex(), b"hubbub label".hex(), context.hex(), count, blocks[:count].hex()))
    return {"hmac": macs, "expand": expanded}


def wire() -> dict[str, list[Any]]:
    """Records as one integer, little-endian; uploads by the msgpack package; dates by CPython's email package."""
    fields = [["cohort", 3, 0], ["bits", 128, 0], ["row", 32, 0]]
    values = [5, (1 << 127) + 1, 0xFFFFFFFF]
    packed = (values[0] | values[1] << 3 | values[2] << 131).to_bytes(21, "little").hex()
    uploads = []
    for period, size in ((0, 1), (127, 12), (128, 17), (256, 300), (65536, 5), (1 << 32, 70000)):
        upload_id, print_, record = bytes(range(16)), bytes(range(8)), bytes([7]) * size
        body = msgpack.packb([1, upload_id, [[print_, period, record * 2]]])
        uploads.append((upload_id.hex(), [(print_.hex(), period, record.hex())] * 2, body.hex()))
    times = [0, 784111777, 951782400, 1709210096, 1735689600, 4102444799]
    dates: list[tuple[str, int | None]] = [(formatdate(time, usegmt=True), time) for time in times]
    return {"records": [(fields, values, packed)], "uploads": uploads[:-1], "dates": [*dates, ("tomorrow", None)]}


def plans(document: Mapping[str, Any]) -> list[tuple[dict[str, Any], str | None]]:
    """Each metric of a plan alone, which is taken; and damaged in every kind of way, each with a part of its error."""
    cases: list[tuple[dict[str, Any], str | None]] = []
    for entry in document["metrics"]:
        cases.append(({**document, "metrics": [entry]}, None))
        for key, value, words in (
            ("period", entry["period"] + 1, "changed after it was compiled"),
            ("mechanism", "no-such", "update hubbub or the plan"),
            ("expires", -1, "damaged"),
            ("fields", [["hash", 1 << 17, 0]], "damaged"),
            ("epsilon_nano", 1, "changed after it was compiled"),
            ("parameters", {}, "damaged"),
            ("lifetime_nano", True, "damaged"),
        ):
            damaged = copy.deepcopy(entry)
            damaged[key] = value
            cases.append(({**document, "metrics": [damaged]}, words))
    entry = document["metrics"][0]
    return [
        *cases,
        ({**document, "schema": 2}, "schema 2"),
        ({**document, "schema": True}, "schema"),
        ({**document, "namespace": 1}, "missing"),
        ({**document, "metrics": {}}, "missing"),
        ({**document, "metrics": [{key: value for key, value in entry.items() if key != "fields"}]}, "damaged"),
        ({**document, "metrics": [1]}, "damaged"),
    ]


def _splitmix(state: int, count: int) -> list[int]:
    outputs = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % (1 << 64)
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) % (1 << 64)
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) % (1 << 64)
        outputs.append(z ^ z >> 31)
    return outputs
