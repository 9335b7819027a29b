"""Makes reports with multi-freq-ldpy, in its own environment, on request: one JSON object a line in, one out.

Request ``{"value": V, "domain": K, "epsilon": E, "count": N}``, answer ``{"reports": [[...], ...]}``: N reports of
value V by ``SS_Client``, subset selection over K values, each as the list that it returned.
"""

from __future__ import annotations

import json
import sys

from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client


def main() -> None:
    """Answers requests until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        value, domain, epsilon = request["value"], request["domain"], request["epsilon"]
        reports = [SS_Client(value, domain, epsilon).tolist() for _ in range(request["count"])]
        print(json.dumps({"reports": reports}), flush=True)


if __name__ == "__main__":
    main()
