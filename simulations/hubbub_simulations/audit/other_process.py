"""The other process of ``elsewhere``: reads what to encode from stdin, one JSON document, and prints the records."""

from __future__ import annotations

import json
import sys
from importlib import import_module

from hubbub_client.plan import Metric


def main() -> None:
    """Encodes with the encoder, the metric and the random bytes that the document names."""
    document = json.load(sys.stdin)
    module, name = document["encoder"]
    metric = Metric(document["namespace"], document["entry"])
    encoder = getattr(import_module(module), name)(metric, bytes.fromhex(document["secret"]))
    records = []
    for value, noise in document["jobs"]:
        data = bytes.fromhex(noise)
        records.append(encoder.encode(bytes.fromhex(value), lambda _count, data=data: data).hex())
    print(json.dumps(records))


if __name__ == "__main__":
    main()
