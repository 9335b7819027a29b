"""HMAC-SHA256 and the key derivation give what CPython's hmac gave. Arguments: CLIENT GIVEN."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.errors import StateError
from hubbub_client.hmac_sha256 import hmac_sha256
from hubbub_client.prf import expand

with open(sys.argv[2]) as file:
    given = json.load(file)
for key, message, digest in given["hmac"]:
    assert hmac_sha256(bytes.fromhex(key), bytes.fromhex(message)) == bytes.fromhex(digest), (key, message)
for secret, label, context, count, stream in given["expand"]:
    made = expand(bytes.fromhex(secret), bytes.fromhex(label), bytes.fromhex(context), count)
    assert made == bytes.fromhex(stream), (label, count)
try:
    expand(bytes(15), b"label", b"", 1)
except StateError:
    pass
else:
    raise AssertionError("a secret that can be guessed was taken")
print("%d streams hold" % (len(given["hmac"]) + len(given["expand"])))
