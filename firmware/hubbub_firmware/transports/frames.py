"""Uploads as frames, for links of a few bytes: LoRaWAN, BLE advertisements, a serial line. A gateway re-wraps them.

A frame is the plan index of a metric in one byte, then one record. The plan index is the metric's place in the plan,
whose metrics lie in the order of their names; 255 is a trouble frame: 255, the code of its reason, and how often it
happened in 4 bytes, little-endian. docs/wire.md has the rest.
"""

from hashlib import sha256

from hubbub_client.transport import Answer, TransportError
from hubbub_firmware.transports.upload_batches import read_upload
from hubbub_firmware.trouble import REASONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_client.plan import Metric, Plan
    from hubbub_client.storage import Storage

LORAWAN_BYTES = 11  # what every data rate carries (US915 DR0)
BLE_BYTES = 31  # a legacy advertisement, from which the header of your own data in it is to be taken off
TROUBLE = 255
_MOST_COUNT = (1 << 32) - 1
_PROGRESS = "frames-sent"
_PORTS = 223


def metrics_in_order(plan: "Plan") -> "list[Metric]":
    """The metrics by plan index. Raises TransportError where there are more than a byte can tell apart."""
    if len(plan.metrics) > TROUBLE:
        raise TransportError("the plan has %d metrics, and a frame tells %d apart" % (len(plan.metrics), TROUBLE))
    return [plan.metrics[name] for name in sorted(plan.metrics)]


def port_of(plan: "Plan") -> int:
    """The LoRaWAN port (1 to 223) of a plan: another plan has, but for 1 in 223, another one.

    A frame names its metric by a place in the plan, and a gateway that holds another plan would read it as another
    metric's, without any error. The port costs no byte of the frame.
    """
    fingerprints = b"".join([metric.fingerprint for metric in metrics_in_order(plan)])
    return 1 + int.from_bytes(sha256(fingerprints).digest()[:8], "little") % _PORTS


class FrameTransport:
    """Hands each record of an upload to ``send_frame(data)`` as a frame of at most ``max_bytes``.

    ``send_frame`` sends it (a LoRa modem on ``port``, an advertisement, a UART) and raises where that failed. What was
    handed over is taken as arrived: use confirmed uplinks where that matters. With a ``storage`` it is remembered how
    far an upload got, so that a reboot in the middle of one repeats one frame at most; a repeated frame counts twice.
    Raises TransportError for a plan with a record that never fits, before anything is spent on it.
    """

    def __init__(
        self,
        plan: "Plan",
        send_frame: "Callable[[bytes], object]",
        max_bytes: int = LORAWAN_BYTES,
        storage: "Storage | None" = None,
    ) -> None:
        metrics = metrics_in_order(plan)
        for metric in metrics:
            if 1 + metric.record_bytes > max_bytes:
                raise TransportError(
                    "metric %s: a frame of %d bytes does not fit into the link's %d; take a mechanism with a smaller "
                    "record, or another link" % (metric.name, 1 + metric.record_bytes, max_bytes)
                )
        self.port = port_of(plan)
        self._known = [(metric.fingerprint, metric.record_bytes) for metric in metrics]
        self._send_frame = send_frame
        self._storage = storage
        self._sent = b"" if storage is None else storage.read(_PROGRESS) or b""

    def send(self, body: bytes) -> Answer:
        """Sends one upload, from where an earlier attempt at it stopped. Raises what ``send_frame`` and storage raise.

        An upload with records of a metric that the plan does not have, made under an earlier plan, is answered with
        400 once its other records are sent: it never will fit, and must not hold up what comes after it.
        """
        upload_id, batches = read_upload(body)
        # In bytes of all records, also of those without a frame: a count of frames would mean others under a new plan.
        done = int.from_bytes(self._sent[len(upload_id) :], "big") if self._sent.startswith(upload_id) else 0
        end = strangers = 0
        for fingerprint, _, records in batches:
            place, size = self._place(fingerprint)
            if not size or len(records) % size:
                strangers += 1
                end += len(records)
                continue
            for at in range(0, len(records), size):
                end += size
                if end > done:
                    self._send_frame(bytes([place]) + records[at : at + size])
                    self._remember(upload_id + end.to_bytes(4, "big"))
        if strangers:
            return Answer(400, None, "%d batches of metrics that the plan does not have" % strangers)
        return Answer(200)

    def send_troubles(self, counts: "dict[str, int]") -> Answer:
        """Sends one frame for each trouble that happened. Raises what ``send_frame`` raises."""
        for i in range(len(REASONS)):
            count = counts.get(REASONS[i], 0)
            if count > 0:
                self._send_frame(bytes([TROUBLE, i]) + min(count, _MOST_COUNT).to_bytes(4, "little"))
        return Answer(200)

    def _place(self, fingerprint: bytes) -> "tuple[int, int]":
        """A metric's plan index and the size of its records; a size of 0 where the plan does not have it."""
        for i in range(len(self._known)):
            if self._known[i][0] == fingerprint:
                return i, self._known[i][1]
        return 0, 0

    def _remember(self, sent: bytes) -> None:
        self._sent = sent
        if self._storage is not None:
            self._storage.write(_PROGRESS, sent)
