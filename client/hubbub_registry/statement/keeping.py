"""Where values and reports lie, who can reach them, and how long they are kept."""

from __future__ import annotations

from hubbub_registry.statement.document import Bullets, Code, Paragraph, Section, Strong, Table
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import said


def keeping(facts: Facts) -> Section:
    """Data collection, access and retention."""
    return Section(
        "What is collected, and how long it is kept",
        "keeping",
        (
            Paragraph((Strong("Retention, as the registry states it: "), said(facts.stated.retention), ".")),
            Table(
                "What hubbub does by itself",
                ("Where", "What lies there", "Until"),
                (
                    ("The app's memory", "the true value", "it is encoded; hubbub stores and logs it nowhere"),
                    (
                        "The device's storage",
                        "randomised reports that wait to be sent",
                        "the collector has them on its disk, refuses them, or newer ones need the room",
                    ),
                    (
                        "The device's storage",
                        "a log of what was sent, for the owner of the device to read: randomised reports, no true "
                        "value",
                        "newer ones need the room, or the device opts out",
                    ),
                    (
                        "The device's storage",
                        "what was spent, and a secret of the device"
                        + (
                            "; for permanent noise also marks that tell values apart, and say nothing without the "
                            "secret"
                            if facts.permanent
                            else ""
                        ),
                        "the app's data is erased; opting out renews the secret and keeps what was spent",
                    ),
                    (
                        "The collector",
                        "uploads as they came, with a random number each that makes a repeated one count once",
                        "they are sealed; too small a batch waits for more, or stays",
                    ),
                    (
                        "The collector",
                        "the random numbers of uploads already sealed, with no link to a report",
                        "their period is accepted no more",
                    ),
                    (
                        "The sealed data set",
                        "randomised reports by metric and period, in a random order",
                        "the operator deletes them: hubbub never does",
                    ),
                ),
            ),
            Bullets(
                (
                    "An app can let people opt out. A device then sends nothing more, and removes its waiting "
                    "reports, its log and its secret, but not the record of what was spent: opting in again refills "
                    "nothing.",
                    "Reports carry no name, number or key of a device. Once they are sealed, nothing links two of them"
                    + (" but the group that some name (see what is not protected)." if facts.groups else "."),
                    (
                        "A batch is sealed only if it holds a minimum of reports (100 unless the operator chose "
                        "another number with ",
                        Code("--min-batch"),
                        ").",
                    ),
                    "Who may read the data sets and the results is for the controller to say. The guarantee does "
                    "not rest on it: whoever reads them sees randomised reports only.",
                )
            ),
        ),
    )
