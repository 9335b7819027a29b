"""What each mechanism does, in words that need no mathematics. A new mechanism needs its own, or the tests fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hubbub_registry.metric import Metric


@dataclass(frozen=True)
class Words:
    """A mechanism in words: what a report holds, how it is noised, what it is good and bad for, who published it.

    ``permanent`` and ``fresh`` say how noise is drawn when a value is reported again, with and without permanent noise.
    """

    title: str
    report: str
    noise: str
    utility: str
    source: str
    permanent: str = ""
    fresh: str = "All noise is drawn anew for each report."


WORDS: Mapping[str, Words] = {
    "randomized-response": Words(
        "Randomized response",
        "A report is one value of the metric's list, and nothing else.",
        "With a fixed probability the device sends its true value; otherwise it sends a value drawn at random from the "
        "whole list. Whoever sees a report cannot tell which of the two happened.",
        "It is the most exact choice for a short list; the longer the list, the larger the error of each value.",
        "Warner 1965; Kairouz, Oh, Viswanath 2014",
    ),
    "unary-encoding": Words(
        "Optimized unary encoding",
        "A report has one bit for each value of the metric's list.",
        "The bit of the true value is sent as the toss of a fair coin. Every other bit is 0, and is sent as 1 with a "
        "fixed smaller probability. So every report shows many values that the device does not have.",
        "Its error does not grow with the length of the list.",
        "Wang, Blocki, Li, Jha 2017",
    ),
    "hadamard-response": Words(
        "Hadamard response",
        "A report is one number, a few bits wide.",
        "Each value owns a fixed set of the numbers, and sets of different values overlap. With a fixed probability "
        "the device draws a number that its true value owns; otherwise any number at all.",
        "Its records are small, and its error does not grow with the length of the list.",
        "Acharya, Sun, Zhang 2019",
    ),
    "projective-geometry-response": Words(
        "Projective geometry response",
        "A report is one number, a few bits wide.",
        "Each value owns equally many of the numbers, and any two values own equally many of them together. With a "
        "fixed probability the device draws a number that its true value owns; otherwise any number at all.",
        "Its records are small, and its error is the least known, however long the list.",
        "Feldman, Nelson, Nguyen, Talwar 2022",
    ),
    "local-hashing": Words(
        "Local hashing",
        "A report is the number of a hash function, drawn at random, and one number more, a few bits wide.",
        "The hash function gives every text one of a few numbers, and very many texts the same. With a fixed "
        "probability the device sends the number of its true value; otherwise any of them.",
        "A report takes a few bytes, and any text can be counted. Values that share a number are told apart by the "
        "many hash functions only; an error from this remains, however many report.",
        "Wang, Blocki, Li, Jha 2017",
    ),
    "subset-selection": Words(
        "Subset selection",
        "A report is a set of values of the metric's list, always equally many.",
        "The set is drawn at random. The true value is in it with a fixed probability, a little more often than any "
        "other, and nothing tells which of the set it is or whether it is there at all.",
        "Its error is the least that is possible, but its records grow with the list.",
        "Ye, Barg 2018",
    ),
    "count-mean-sketch": Words(
        "Count mean sketch",
        "A report is the number of a hash function, drawn at random, and a row of bits.",
        "The hash function points the true value to one place of the row; only that bit is set. Then every bit of the "
        "row is flipped with a fixed probability, each by itself.",
        "Any text can be counted, and the list of what to look for can be written later. Values that meet in one place "
        "of the row are told apart by the many hash functions only; an error from this remains, however many report.",
        "Apple, “Learning with privacy at scale”, 2017, algorithm 1",
    ),
    "hadamard-count-mean-sketch": Words(
        "Hadamard count mean sketch",
        "A report is the number of a hash function and the number of a row, both drawn at random, and one bit.",
        "The bit is one entry of a transformed sketch of the true value, and is flipped with a fixed probability. The "
        "two numbers do not depend on the value.",
        "A report takes a few bytes, and any text can be counted. Values that share a hash are told apart by the many "
        "hash functions only; an error from this remains, however many report.",
        "Apple, “Learning with privacy at scale”, 2017, algorithm 3",
    ),
    "sequence-fragment-puzzle": Words(
        "Sequence fragment puzzle",
        "A report has two halves. One is the number of a hash function and a number of a few bits for the whole text; "
        "the other names a place in the text, drawn at random, and has the same two numbers for the few bytes there.",
        "In each half, with a fixed probability, the device sends the number that the hash function gives its text; "
        "otherwise any of them. The few bytes are taken together with a small number that the whole text gives, by "
        "which pieces of one text are put together. Both halves are counted in the epsilon of a report.",
        "It finds the texts that many devices hold when nobody has listed them; rare and very long ones stay unknown. "
        "A text that was found is known to whoever decodes the reports, so a text that many hold should be no secret.",
        "Apple, “Learning with privacy at scale”, 2017, sequence fragment puzzle; Wang, Blocki, Li, Jha 2017",
    ),
    "prefix-extending-method": Words(
        "Prefix extending method",
        "A report is of one part of the text, its beginning of some length or all of it, and says which; it holds the "
        "number of a hash function, and one number more, a few bits wide.",
        "Which part and which hash function are drawn at random, whatever the text. The hash function gives every part "
        "one of a few numbers, and very many parts the same. With a fixed probability the device sends the number of "
        "its own; otherwise any of them.",
        "Texts that many devices have are found without a list: beginnings that are frequent are extended, step by "
        "step. What a few devices have stays hidden. Counts come from the reports that had no say in finding a text, "
        "which are the fewer the longer it is, so they are less exact than with a list that was known before.",
        "Wang, Li, Jha 2019",
    ),
    "rappor": Words(
        "RAPPOR",
        "A report is a row of bits, with the number of the device's cohort where there are several.",
        "The true value sets certain bits of the row. Then every bit is changed with a fixed probability, each by "
        "itself.",
        "It is made for values that stay the same for a long time. Values are recovered by a regression over a list of "
        "candidates, and rare ones are not found.",
        "Erlingsson, Pihur, Korolova 2014",
        "This happens twice: once for good, by noise that the device derives from a secret it never sends, so that the "
        "same value always meets the same noise; and on top of it once more, anew, in each report.",
    ),
    "one-bit-mean": Words(
        "One-bit mean",
        "A report is one bit.",
        "The device rounds its number, at random, to one of a few fixed points, and the point to one of the two "
        "ends of the range: to the upper end the more likely, the larger the number. The bit says which end, and is "
        "flipped with a fixed probability.",
        "It gives the mean of a number over all devices, and nothing about how the number is spread.",
        "Ding, Kulkarni, Yekhanin 2017",
        "All of this is drawn once for each point, from a secret that the device never sends, and repeated as long "
        "as the number stays near the point. Where the metric has a perturbation, the bit is flipped once more, "
        "anew, in each report.",
    ),
    "hierarchical-histogram": Words(
        "Hierarchical histogram",
        "A report is the number of a level, drawn at random, and one number more, a few bits wide.",
        "The range is cut into a few large parts, those into smaller ones, and so on; each level is one such division. "
        "Each part owns equally many of the numbers, and any two own equally many of them together. With a fixed "
        "probability the device draws a number owned by the part in which its value lies; otherwise any at all.",
        "It gives quantiles of a value, and the counts of ranges of any width. Its histogram of the smallest parts is "
        "less exact than that of a mechanism which asks for them alone.",
        "Cormode, Kulkarni, Srivastava 2019; Feldman, Nelson, Nguyen, Talwar 2022",
    ),
    "d-bit-flip": Words(
        "d-bit flip",
        "A report names a few ranges, the same ones in all reports of a device, and has one bit for each of them.",
        "A bit says whether the number lies in that range, and is flipped with a fixed probability. Which ranges a "
        "device answers for does not depend on its number.",
        "It gives the histogram of a number. The fewer ranges a device answers for, the larger the error.",
        "Ding, Kulkarni, Yekhanin 2017",
        "The flips are drawn once, from a secret that the device never sends, and repeated as long as the number "
        "stays in its range. Where the metric has a perturbation, each bit is flipped once more, anew, in each "
        "report.",
    ),
}


def words_of(metric: Metric) -> Words:
    """The words of a metric's mechanism; of a joint metric, those of both parts."""
    if not metric.parts:
        return WORDS[metric.mechanism]
    first, second = (WORDS[part.mechanism] for part in metric.parts)
    return Words(
        f"Two values together: {first.title} and {second.title}",
        "A report has two parts, for two values of one device, and each part is what a report of that value alone "
        f"would be. For the first value: {first.report} For the second value: {second.report}",
        f"The noise of the first: {first.noise} The noise of the second: {second.noise} The two are drawn "
        "independently, and both parts are counted in the epsilon of a report.",
        "It shows how often two values come together. Its error is larger than that of either value by itself, since "
        "each part has only its share of epsilon.",
        f"{first.source}; {second.source}; put together as in Fanti, Pihur, Erlingsson 2016",
    )
