"""XXH32, SplitMix64 and the bucket family give what the host's libraries and formulas gave. Arguments: CLIENT GIVEN."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.canonical import fingerprint
from hubbub_client.hashing import bucket, item_key, splitmix64
from hubbub_client.xxh32 import xxh32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(kind: str, case: "list[Any]") -> None:
    if kind == "xxh32":
        assert xxh32(bytes.fromhex(case[0]), case[1]) == case[2], case
    elif kind == "item_key":
        assert item_key(bytes.fromhex(case[0]), case[1]) == (case[2], case[3]), case
    elif kind == "splitmix64":
        assert splitmix64(case[0], case[1]) == case[2], case
    elif kind == "bucket":
        assert bucket((case[0], case[1]), case[2], case[3], case[4]) == case[5], case
    else:
        assert fingerprint(case[0]) == bytes.fromhex(case[1]), case


checked = 0
with open(sys.argv[2]) as file:
    for line in file:  # one line a case, so that all of them fit a small heap
        kind, case = json.loads(line)
        check(kind, case)
        checked += 1
print("%d hashes hold" % checked)
