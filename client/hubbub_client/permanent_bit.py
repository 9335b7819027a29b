"""A bit that is flipped once for good and, if the plan says so, once more in every report.

The permanent flip has probability r = ``threshold`` / 2**``precision`` and is the same in all reports of one value
(memoisation); the perturbation has probability g = ``perturbation`` / 2**``perturbation_bits`` and is new in each
report. ``perturbation_bits`` of 0 is none. Source: Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately",
NIPS 2017, sections 3 and 4.
"""

from hubbub_client.sampling import check_flip


def check_flips(parameters: "dict[str, int]") -> None:
    """Raises ValueError for flips that are none, or that happen more often than not."""
    check_flip(parameters["threshold"], parameters["precision"])
    if parameters["perturbation_bits"]:
        check_flip(parameters["perturbation"], parameters["perturbation_bits"])
    elif parameters["perturbation"]:
        raise ValueError("a perturbation of no bits")


def bit_ratio(parameters: "dict[str, int]", reports: int) -> "tuple[int, int]":
    """The largest ratio of what ``reports`` copies of one permanent bit show, between a bit of 1 and a bit of 0.

    A bit that is 1 shows s ones and t - s zeros with probability (1-r) x + r y, where x = (1-g)^s g^(t-s) and
    y = g^s (1-g)^(t-s); for one that is 0, r and 1 - r change places. Since r <= 1/2 the quotient rises with x / y, and
    so with s: the worst is all ones, and by symmetry all zeros the other way. One report gives e^eps' of the paper's
    theorem on output perturbation; without end the ratio rises to (1-r) / r, that of the permanent bit itself.
    """
    flip = parameters["threshold"]
    stay = (1 << parameters["precision"]) - flip
    change = parameters["perturbation"]
    likely = ((1 << parameters["perturbation_bits"]) - change) ** reports
    unlikely = change**reports
    return stay * likely + flip * unlikely, flip * likely + stay * unlikely


def permanent_bit_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """(1-r) / r: what no number of reports of one permanent bit exceeds."""
    flip = parameters["threshold"]
    return (1 << parameters["precision"]) - flip, flip
