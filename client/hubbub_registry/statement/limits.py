"""What no figure of the statement covers."""

from __future__ import annotations

from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Strong, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import named


def limits(facts: Facts) -> Section:
    """Everything that is not protected, in this very registry."""
    return Section(
        "What is not protected",
        "limits",
        (Paragraph("The figures above bound what the content of reports reveals. They do not cover:"), *blocks(facts)),
    )


def blocks(facts: Facts) -> tuple[Block, ...]:
    """The list of what is not protected."""
    items: list[Text] = [
        (
            Strong("That a device reports, and how often."),
            " A report shows that its device runs the app, takes part and had something to report; a value that a "
            "metric does not know makes no report.",
        ),
        (
            Strong("The network address."),
            " The network, a proxy and the operator can see which address an upload comes from. hubbub's collector "
            "neither keeps nor logs it; others on the way may.",
        ),
        (
            Strong("Timing."),
            " When an upload arrives can be seen as it arrives. What is kept is the period of each report, and no "
            "finer time.",
        ),
    ]
    if facts.permanent:
        items.append(
            (
                Strong("That a value changed: "),
                *named(facts.permanent),
                ". Here part of the noise is repeated as long as the value stays, and is another once it changes. "
                "Somebody who can link the reports of one device can see from this that the value changed, and no "
                "figure on this page bounds how surely. What it was, and what it became, stays within the figures.",
            )
        )
    if facts.groups:
        items.append(
            (
                Strong("Which group a device is in: "),
                *_groups(facts),
                ". Each report carries this group, openly, and a device stays in it from report to report. It depends "
                "on no value, but it helps to link reports of one device; the more groups, the more.",
            )
        )
    if facts.split:
        items += _in_the_clear(facts)
    items += [
        (
            Strong("Groups of devices."),
            " What several devices of one household share is protected less, in proportion to their number.",
        ),
        (
            Strong("Several metrics together."),
            " The figure of one metric is not the figure of all. Only the row of all metrics is what a device's "
            "owner is exposed to, and it covers this registry alone, not others that the device may report to.",
        ),
        (
            Strong("What is true of nearly everybody."),
            " That is what is measured, and it says something about each of them, whether they report or not.",
        ),
        (
            Strong("The device itself."),
            " Whoever can read its memory, or measure it very finely, can learn the true values there.",
        ),
    ]
    return (Bullets(tuple(items)),)


def _in_the_clear(facts: Facts) -> list[Text]:
    pieces: list[Text] = []
    for metric in facts.split:
        split = metric.dimension
        if split is None:
            continue
        pieces.append(
            (
                Strong("What a report says openly: "),
                Code(metric.name),
                f" is sent with the device's {split.name}, one of {len(split.values):,} that the registry lists, as it "
                "is and without noise. The app must know it apart from the value, and hubbub cannot check that. No "
                "figure on this page counts it. Where few devices share one, their reports are known to come from "
                "those few, and reports of one device are easier to link; what they say of the value stays within "
                "the figures. A report is hidden only among those that name the same, so no stronger figure is "
                "claimed here for being shuffled.",
            )
        )
    return pieces


def _groups(facts: Facts) -> tuple[str, ...]:
    """``a`` (one of 32) and ``b`` (one of 10)."""
    pieces: list[str] = []
    for position, (name, groups) in enumerate(facts.groups.items()):
        pieces += [", " if position else "", Code(name), f" (one of {groups:,})"]
    return tuple(pieces)
