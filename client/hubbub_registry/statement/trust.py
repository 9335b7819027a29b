"""Whom a device must trust, and what each actor gets to see."""

from __future__ import annotations

from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Strong, Table, Text
from hubbub_registry.statement.facts import Facts


def trust(facts: Facts) -> Section:
    """The trust model, actor by actor, and what is claimed of a shuffler."""
    return Section("Whom you must trust, and who sees what", "trust", blocks(facts))


def blocks(facts: Facts) -> tuple[Block, ...]:
    """What the section holds."""
    return (
        Paragraph(
            "The model is local: noise is added on the device, so the figures hold against everybody who sees reports, "
            "with any computing power and any knowledge from elsewhere."
            + (
                " Permanent noise is the exception as to computing power: it is derived by HMAC-SHA256 from a "
                "secret of the device, and holds against those who cannot break that."
                if facts.permanent
                else ""
            )
        ),
        Table("Who sees what", ("Who", "Sees", "Is trusted with"), tuple(_actors(facts))),
        Bullets(
            (
                "The device and the app on it must be honest and unspoilt, their random numbers unpredictable, and "
                "their storage not set back to an earlier state.",
                "Whoever ships the app also ships the plan that this page describes. The device works out anew, "
                "from the plan's integers, what a report costs, and refuses a plan that costs more than it says. A "
                "plan that comes over the network is refused where it asks for more than the one in force.",
            )
        ),
        _shuffler(facts),
    )


def _actors(facts: Facts) -> list[tuple[Text, ...]]:
    actors: list[tuple[Text, ...]] = [
        ("The app on the device", "true values", "the true values"),
        (
            "The storage of the device",
            "a secret, what was spent, and randomised reports that wait to be sent; no true value",
            "keeping the spent budget"
            + (
                ", and the secret: with it guesses of true values can be tried against the noise"
                if facts.permanent
                else ""
            ),
        ),
        (
            "The network, and a proxy before the collector",
            "the address of a device, the time and size of an upload; its content only where it is sent without TLS",
            "nothing",
        ),
    ]
    if facts.shuffler:
        actors.append(
            (
                ("The shuffler that the registry names: ", facts.shuffler),
                "the address of a device, the time of an upload, and how many reports it holds; the reports are sealed "
                "to the analyst, all at one length, and it cannot open them",
                "nothing that this page counts on",
            )
        )
    return [
        *actors,
        (
            "The operator of the collector",
            "randomised reports in the random order that the shuffler gave them, without an address"
            if facts.shuffler
            else "randomised reports, and which of them came in one upload, until they are sealed; the address and the "
            "time of an upload while it arrives, of which hubbub's collector keeps and logs neither",
            "keeping reports safe from loss, not with privacy",
        ),
        (
            "The analysts",
            "randomised reports of one metric and period in a random order, with no link between two of them"
            + (" but the group that some reports name" if facts.groups else "")
            + ("; and what some reports say in the clear" if facts.split else ""),
            "nothing",
        ),
        ("Readers of the results", "estimates with their errors, worked out from those reports", "nothing"),
    ]


def _shuffler(facts: Facts) -> Block:
    if not facts.shuffler:
        return Paragraph(
            (
                Strong("No shuffler is counted on."),
                " The collector does mix reports before analysts see them, but collector and mixer are one operator "
                "here. So no stronger figure is claimed for the crowd a report is mixed with.",
            )
        )
    return Paragraph(
        (
            Strong("An independent shuffler is stated in the registry: "),
            facts.shuffler,
            ". Reports are sealed to the analyst's key ",
            Code(facts.shuffler_key),
            ". hubbub cannot check that the two are independent; where they put together what they see, nothing is "
            "gained by shuffling. All figures on this page hold without it; ",
            Code("hubbub check --shuffled-batch"),
            " gives the stronger ones, for those who trust it.",
        )
    )
