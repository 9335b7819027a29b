"""The privacy statement's section on curated metrics: another trust model, and so a section of its own."""

from __future__ import annotations

from fractions import Fraction

from hubbub_registry.curator.accounting import SPANS, Loss, loss, mixed, releases, total
from hubbub_registry.curator.curated import Curated
from hubbub_registry.curator.summary import sensitivity
from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Strong, Subheading, Table, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import count, every, figure, integer

_ADJACENT = {
    "add-remove": "a sensor's readings of one period are all there, or none of them is",
    "replace": "a sensor's readings of one period are any others in place of these, or none",
}
_ACTORS: tuple[tuple[Text, ...], ...] = (
    ("The gateway, and whoever runs it or breaks into it", "every reading, with its sensor", "everything"),
    ("The link from a sensor to the gateway", "readings, where it is not encrypted", "the readings"),
    ("Whoever gets the releases: collector, analysts, readers", "noisy statistics of whole periods", "nothing"),
)


def curated(facts: Facts) -> Section:
    """The trust model, unit, neighbours, noise, sensitivity, figures and limits of curated metrics."""
    metrics = list(facts.registry.curated.values())
    blocks: list[Block] = [
        Paragraph(
            (
                Strong("These metrics follow another trust model: "),
                "central, at a gateway. Sensors send it their readings without any noise, and must trust it. It adds "
                "noise once to what all of them add up to, and releases that. Figures hold against everybody who sees "
                "releases, and against nobody who sees the gateway.",
            )
        ),
        Table("Who sees what", ("Who", "Sees", "Is trusted with"), _ACTORS),
        Table(
            "What is released",
            ("Metric", "What it says", "Statistic", "How often", "Owner"),
            tuple(
                (Code(each.name), each.description, _statistic(each), every(each.period), each.owner)
                for each in metrics
            ),
        ),
        Table(
            "Epsilon, at most, of what releases reveal about one sensor",
            ("Metric", "One period", "One year", "Its whole life", "Delta"),
            (
                *((Code(each.name), *_figures([loss(each, span) for span in SPANS])) for each in metrics),
                (Strong("One sensor, all curated"), *_figures([total(metrics, span) for span in SPANS])),
            ),
            numbers=True,
        ),
        Bullets(_meaning(metrics)),
    ]
    for each in metrics:
        blocks += _metric(each)
    return Section("What a trusted gateway releases", "curated", (*blocks, *_limits()))


def _meaning(metrics: list[Curated]) -> tuple[Text, ...]:
    lines: list[Text] = [
        (
            Strong("The unit of privacy is one sensor over one period."),
            " A person with several sensors is as exposed as all of them together, and what several periods reveal "
            "adds up, as the table shows.",
        ),
        "The gateway keeps the bounds: it writes what a release costs to its ledger before it draws the noise, stores "
        "each release once, shows the same release to everybody who asks again, and stops where the life is used up or "
        "its records are damaged. Nobody outside can check that it does.",
        "Whether a sensor is enrolled is not protected: the list is known. Whether an enrolled sensor reported at all, "
        "and how often, is. A period is released whether anything was read in it or not.",
    ]
    if mixed(metrics):
        lines.append(
            "Metrics here differ in their neighbours. The figures of all of them together are for those of replace, "
            "under which an add-remove metric costs up to twice its epsilon."
        )
    if any(each.gaussian for each in metrics):
        lines.append(
            "With discrete Gaussian noise the guarantee is rho-zCDP (zero-concentrated). Rhos of releases add up; "
            "epsilon is rho + 2 sqrt(rho ln(1/delta)) at the delta given, which is the chance left over that the bound "
            "does not hold."
        )
    return tuple(lines)


def _metric(each: Curated) -> list[Block]:
    rows: list[tuple[Text, ...]] = [
        ("Neighbours", _ADJACENT[each.adjacency]),
        ("Readings of one sensor that count, in a period", f"{integer(each.contributions)}; later ones are dropped"),
        ("Sensors enrolled", f"{integer(each.sensors_minimum)} to {integer(each.sensors)}"),
        ("Sensitivity, from these bounds", sensitivity(each)),
        ("Noise", f"{each.noise} of scale {each.scale} on each of {count(len(each.cells), 'figure')}"),
        (f"{each.unit.capitalize()} of one release, exactly", Code(str(each.loss))),
        (f"{each.unit.capitalize()} that the registry declares, at most", figure(each.declared)),
        ("Releases that its life pays for", integer(releases(each)["lifetime"])),
        ("Standard error of a figure", f"{each.std_error:.6g}; 95 % within {integer(each.half_width)} to each side"),
        ("Ends on", str(each.expires)),
        ("Fingerprint of the definition", Code(each.fingerprint.hex())),
    ]
    if each.statistic != "count":
        rows.insert(2, ("Readings are clamped to", f"{integer(each.low)} to {integer(each.high)}{_steps(each)}"))
    return [
        Subheading(Code(each.name)),
        Table(("The exact figures of ", Code(each.name)), ("What", "Figure"), tuple(rows)),
    ]


def _limits() -> tuple[Block, ...]:
    return (
        Bullets(
            (
                "Noise is drawn by the samplers of Canonne, Kamath and Steinke (2020), in integers only and without "
                "rounding, from the generator of OpenSSL, which the operating system seeds.",
                "Errors are those of the noise. Clamping, readings that were dropped and sensors that failed are not "
                "in them.",
                "Sensors are told apart by the name they give. One that takes the names of others moves a figure by as "
                "many contributions.",
                "How long drawing the noise takes depends on the noise. Releases should leave the gateway on a fixed "
                "schedule, not as soon as they are drawn.",
            )
        ),
    )


def _statistic(each: Curated) -> str:
    if each.statistic == "count":
        return "number of readings"
    if each.statistic == "sum":
        return f"sum of readings{_steps(each)}"
    return f"readings in each of {each.buckets} ranges"


def _steps(each: Curated) -> str:
    return f", in steps of 1/{integer(each.resolution)}" if each.resolution > 1 else ""


def _figures(losses: list[Loss]) -> tuple[str, ...]:
    delta: Fraction | None = losses[0].delta
    return (*(figure(lost.epsilon) for lost in losses), "0" if delta is None else f"{float(delta):g}")
