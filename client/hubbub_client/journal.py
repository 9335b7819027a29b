"""A ledger whose latest steps lie in the open file of reports, each with the report it pays for: one write, not two.

For storage with ``journal = True`` (see storage.py). A report's frame holds what it changed of its metric's entry. The
ledger is what its own file says, then what the open file adds, in order. It is never less than what left the device:

- A frame is whole or is no report, so no report is there without its payment.
- A report leaves only in a closed file, and before one is closed the ledger is stored in its own file. So the ledger's
  file says everything that was paid for what may have left, and no file of reports that is lost gives any of it back.
- What an open file lost was never sent, and is not sent later: reading ends where the damage is.
- A report that does not follow on the generation before it is not taken, and a closed file has the serial of its last
  report for a number; an older ledger file ends below one of the two, and device_state.py refuses it.
"""

from hubbub_client.frames import parse
from hubbub_client.report_files import OPEN, fate_of, report_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.ledger import Ledger
    from hubbub_client.report_files import Readable


def replay(ledger: "Ledger", storage: "Readable") -> None:
    """Brings a ledger that was read from its file up to the newest report. Raises OSError."""
    for name in report_files(storage):
        if fate_of(name) != OPEN:
            continue
        for report in parse(storage.read(name) or b"")[0]:
            if report.journal and report.serial > ledger.generation:
                if report.serial != ledger.generation + 1:
                    return
                ledger.redo(report)
