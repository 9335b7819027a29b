"""A ledger whose latest steps lie in the files of reports, each with the report it paid for: one write, and not two.

For storage with ``journal = True`` (see storage.py). A report's frame holds the line of its metric, as the ledger's
file would; the first report of a file, and the first one after the state was opened, hold all lines, so that the newest
file says everything that older ones do. The ledger is what its own file says, then the newest file's lines, in order.
It is never less than what left the device:

- A frame is whole or is no report, so no report is there without its payment.
- A report leaves only in a closed file, and closing gives the file the serial of its last report for a number. If a
  frame was lost after that, the ledger ends below that number, and device_state.py refuses it.
- What an open file lost was never sent, and is not sent later: reading ends where the damage is.
- A line that does not follow on the generation before it is not taken, so an older ledger file is noticed, too.
"""

import json

from hubbub_client.frames import parse
from hubbub_client.report_files import report_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.ledger import Ledger
    from hubbub_client.report_files import Readable


def replay(ledger: "Ledger", storage: "Readable") -> None:
    """Brings a ledger that was read from its file up to the newest report. Raises OSError."""
    for name in reversed(report_files(storage)):
        reports = parse(storage.read(name) or b"")[0]
        for report in reports:
            if not report.journal or report.serial <= ledger.generation:
                continue
            lines = [json.loads(line) for line in report.journal.decode().split("\n")]
            if not isinstance(lines[0], dict) and report.serial != ledger.generation + 1:
                return
            for line in lines:
                ledger.take(line)
            ledger.generation = report.serial
        if reports:
            return
