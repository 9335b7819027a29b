"""Every draw is exact on this interpreter: whole sample spaces, counted. Arguments: CLIENT."""

import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.errors import EntropyError
from hubbub_client.sampling import (
    bernoulli,
    bernoulli_lanes,
    check_flip,
    check_threshold,
    parity,
    read,
    uniform_below,
)

for threshold in range(1, 64):
    assert sum([bernoulli(word, threshold, 6) for word in range(64)]) == threshold
for precision in (30, 31, 32, 62, 63, 64, 96):  # around what small integers hold, and beyond it
    top = 1 << precision
    for threshold in (1, top // 2 + 1, top - 1):
        edges = [bernoulli(word, threshold, precision) for word in (0, threshold - 1, threshold, top - 1)]
        assert edges == [1, 1, 0, 0], (threshold, precision)

for threshold in range(1, 8):
    counts = [0, 0, 0, 0]
    for words in range(64):  # two lanes of three bits each, all ways
        data = bytes([words & 3, words >> 2 & 3, words >> 4])
        counts[bernoulli_lanes(data, 0, 2, threshold, 3)] += 1
    other = 8 - threshold
    assert counts == [other * other, threshold * other, threshold * other, threshold * threshold], threshold

# 128 lanes at once are 128 lanes one by one.
data = bytes([(37 * i + 11 * (i >> 3)) & 0xFF for i in range(1 + 16 * 12)])
lanes = bernoulli_lanes(data, 1, 128, 0x5A7, 12)
for lane in range(128):
    alone = bytes([data[1 + 16 * i + (lane >> 3)] >> (lane & 7) & 1 for i in range(12)])
    assert lanes >> lane & 1 == bernoulli_lanes(alone, 0, 1, 0x5A7, 12), lane

for domain in (1, 3, 5, 100):
    counts = [0] * domain
    for uniform in range(1 << 10):
        counts[uniform_below(uniform, domain, 10)] += 1
    assert min(counts) == 1024 // domain and max(counts) <= 1024 // domain + 1, domain
assert uniform_below((1 << 96) - 1, 1000003, 96) == 1000002

for word in (0, 1, 3, 7, 1 << 29, 1 << 30, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 0xDEADBEEF):
    assert parity(word) == len([i for i in range(32) if word >> i & 1]) & 1, word


def refuses(kind: "type[Exception]", function: object, *arguments: object) -> None:
    """Raises AssertionError unless the call raises ``kind``."""
    try:
        function(*arguments)  # type: ignore[operator]
    except kind:
        return
    raise AssertionError(arguments)


for threshold in (0, -1, 64, 65):
    refuses(ValueError, check_threshold, threshold, 6)
for threshold in (0, -1, 33, 64):
    refuses(ValueError, check_flip, threshold, 6)
refuses(EntropyError, read, lambda count: bytes(count - 1), 4)
refuses(EntropyError, read, lambda count: bytes(count + 1), 4)
assert read(lambda count: bytes(count), 4) == bytes(4)
print("sampling is exact")
