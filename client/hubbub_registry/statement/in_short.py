"""What a hurried reader must know."""

from __future__ import annotations

from hubbub_registry.lints.budget import HIGH_LIFETIME
from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Strong, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import count, figure
from hubbub_registry.summary.for_people import decimal_up


def lead(facts: Facts) -> tuple[Block, ...]:
    """What this is, before the first section."""
    return (
        Paragraph(
            "What devices report under this name, how strongly each device is protected, and what is not protected."
        ),
        Paragraph(
            f"hubbub {facts.version} wrote this page on {facts.day} from the registry that devices run from. Every "
            "figure is computed from the integers that devices use, and rounded up. What only people can know (who "
            "collects, what for, for how long) is shown as the registry states it, and hubbub has not checked it."
        ),
    )


def in_short(facts: Facts) -> Section:
    """The promise, its figures and its limits in a few sentences."""
    metrics = facts.metrics
    strongest = max(metrics, key=lambda metric: metric.ratio)
    items: list[Text] = [
        (
            Strong("True values stay on the device."),
            " Each device randomises every value by itself before anything is stored to be sent. The network, the "
            "operator and the analysts receive randomised reports and nothing else that depends on a value.",
        ),
        (
            Strong(f"One report: epsilon at most {figure(strongest.exact_epsilon)}."),
            " Whoever sees a single report, and knows everything else, can come to think one answer at most "
            f"{decimal_up(strongest.ratio, 2)} times as likely, against another, as before. This is ",
            Code(strongest.name),
            ", the metric that reveals most." if len(metrics) > 1 else ", the only metric.",
        ),
        _lifetime(facts),
        (
            Strong("Not protected: "),
            "; ".join(_unprotected(facts)),
            ". The section on what is not protected says more.",
        ),
        (
            Strong("What must be trusted: the device"),
            " (its hardware, operating system, the app, and their random numbers). Nothing that the collector or the "
            "analysts do can weaken the figures on this page.",
        ),
    ]
    if facts.registry.curated:
        items.insert(0, _curated(facts))
    return Section("In short", "in-short", (Bullets((*items, *decisions(facts))),))


def decisions(facts: Facts) -> tuple[Text, ...]:
    """That the checks found something, where they did."""
    open_findings = [finding for finding in facts.findings if finding.silenced is None]
    silenced = len(facts.findings) - len(open_findings)
    if not facts.findings:
        return ()
    return (
        (
            Strong("For your decision:"),
            f" the checks that hubbub makes raise {count(len(facts.findings), 'point')}: {silenced} accepted "
            f"with a written reason, {len(open_findings)} still open. They are listed under decisions and their "
            "reasons.",
        ),
    )


def _curated(facts: Facts) -> Text:
    """What a hurried reader must know where some metrics are curated."""
    names = tuple(facts.registry.curated)
    return (
        Strong("A gateway sees true readings for "),
        *[piece for name in names for piece in (Code(name), ", ")][:-1],
        ". There sensors send readings as they are to a gateway, and protection begins with what it releases. The "
        "sections on reports do not hold for them; the section on what a trusted gateway releases does.",
    )


def _lifetime(facts: Facts) -> Text:
    whole = facts.whole
    what = "All metrics together" if len(facts.metrics) > 1 else "All reports together"
    if whole.lifetime is None:
        return (
            Strong("A device's whole life: no bound."),
            f" {what} cost one device at most {figure(whole.per_year)} in a year, and it may go on from year to year. "
            "The reasons given for this are listed under decisions.",
        )
    text = f" {what} can cost one device no more than this, ever; it then stops reporting."
    if whole.lifetime > HIGH_LIFETIME:
        text += (
            f" Past {HIGH_LIFETIME} the sum by itself rules nothing out for somebody who holds all reports of one "
            "device and knows that they belong together. Protection then rests on the figures of a report and a "
            "period."
        )
    return Strong(f"A device's whole life: epsilon at most {figure(whole.lifetime)}."), text


def _in_the_clear(facts: Facts) -> list[str]:
    """The names of the public dimensions, each once."""
    return list(dict.fromkeys(metric.dimension.name for metric in facts.split if metric.dimension is not None))


def _unprotected(facts: Facts) -> list[str]:
    words = ["that a device reports at all, when, and from which address"]
    if facts.permanent:
        words.append("for some metrics, that a value changed")
    if facts.groups:
        words.append("for some metrics, which group of devices it is in")
    if facts.split:
        words.append(f"what is sent as it is beside a value ({', '.join(_in_the_clear(facts))})")
    return [*words, "what a whole household shares, or what is true of nearly everybody"]
