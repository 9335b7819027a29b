"""Good plans are taken and damaged ones refused, with the same words as on a host. Arguments: CLIENT PLANS.

PLANS has one JSON line a case: ``[document, None or a part of the error]``.
"""

import gc
import json
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.errors import PlanError
from hubbub_client.plan import Plan

_MECHANISMS = "hubbub_client.mechanisms."


def let_mechanisms_go() -> None:
    """A board holds the mechanisms of its own plan in memory, never all of them."""
    for name in [name for name in sys.modules if name.startswith(_MECHANISMS)]:
        del sys.modules[name]
        delattr(sys.modules[_MECHANISMS[:-1]], name[len(_MECHANISMS) :])


taken = refused = 0
with open(sys.argv[2]) as file:
    for line in file:
        document, wanted = json.loads(line)
        try:
            Plan(document)
        except PlanError as error:
            assert wanted is not None and wanted in str(error), (wanted, str(error))
            refused += 1
        else:
            assert wanted is None, wanted
            taken += 1
        del document
        let_mechanisms_go()
        gc.collect()
for data in (b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"schema": 1}', b"null"):
    try:
        Plan.from_bytes(data)
    except PlanError:
        refused += 1
    else:
        raise AssertionError(data)
print("%d plans taken, %d refused" % (taken, refused))
