"""What a bundle of hubbub sets apart: functions of the library that run at the start, or now and then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Overlay -> functions that resident code calls, by their names once all is linked and methods are functions. Each name
# of an overlay is that of a module on the board.
OVERLAYS: Mapping[str, Sequence[str]] = {
    "hubbub_boot": ("open_entropy",),
    # Fresh noise: at the start, and once in 256 requests.
    "hubbub_noise": ("CheckedSource_block", "CheckedSource_samples", "HmacDrbg_reseed", "HealthTests.take",
                     "ReplayTest.take"),
    "hubbub_trouble": ("Troubles.count", "Troubles.counts", "CheckedSource_failed"),
    "hubbub_plan": ("Plan_from_bytes", "Plan.from_bytes", "Plan.load", "Plan_made", "Plan.__init__"),
    "hubbub_state": ("open_state", "known_ledger", "Ledger.load", "Ledger.take"),
    "hubbub_encoders": ("mechanism_Encoder", "Encoder.__init__", "Encoder__hubbub_client_mechanisms_rappor.__init__"),
    "hubbub_dimension": ("taken_off", "front_of"),
    "hubbub_link": ("HttpsTransport_made", "HttpsTransport.__init__"),
    "hubbub_send": ("HttpsTransport_ask",),
    "hubbub_body": ("build",),
    "hubbub_connect": ("Connection_made",),
    "hubbub_answer": ("read_answer",),
    # Of a Reporter: its making, opening what waits, and sending it. What keeps its promise never to raise is resident:
    # a module is loaded where there is memory for it, and a trouble may be that there is none.
    "hubbub_reporter": ("Reporter_made", "Reporter.__init__", "Pending_made", "SentLog_made", "Session_opted_out"),
    "hubbub_flush": ("Reporter_send_all", "Pending.take", "Pending.settle", "SentLog.take"),
    # Of the main loop: its start, the network, and an upload.
    "hubbub_start": ("Device.__init__", "Device_made"),
    "hubbub_network": ("join",),
    "hubbub_upload": ("Device.upload", "Device_upload"),
}  # fmt: skip
# Classes whose objects do not outlive the call that made them. All others are resident: an object keeps its class in
# memory, a class all of its module.
PASSING = ("EarlierBoots", "Connection", "DeadlineStream", "Head", "Report")
# Values that are others in a bundle: there overlays do what these switches are for.
VALUES = {"hubbub_firmware.entropy:_SMALL": False}
