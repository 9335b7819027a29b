"""Whether a plan's ``charges`` are what a compiler makes, and no less than what reports of one value leak."""

from hubbub_client.charges import MOST_CHARGES
from hubbub_client.exponential import FRACTION_BITS, exp_lower_long

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_shape(charges: object, epsilon_nano: int) -> None:
    """Raises TypeError or ValueError where ``charges`` is not a list that a compiler makes."""
    if not isinstance(charges, list) or not 1 <= len(charges) <= MOST_CHARGES:
        raise ValueError("charges are none, or too many")
    before = epsilon_nano
    for charge in charges:
        if type(charge) is not int or charge < before:
            raise ValueError("charges do not rise from the cost of one report")
        before = charge
    if charges[0] != epsilon_nano:
        raise ValueError("charges do not begin with the cost of one report")


def understated(module: "Any", parameters: "dict[str, int]", charges: "list[int]") -> bool:
    """Whether any entry is less than what that many reports leak by the mechanism's own exact ratios.

    Raises ValueError where these parameters have no permanent noise, or an entry is above ``MOST_NANO``.
    """
    if not hasattr(module, "ratio_after") or module.ratio_after(parameters, 1) is None:
        raise ValueError("charges for a metric without permanent noise")
    last = len(charges) - 1
    for i in range(last + 1):
        numerator, denominator = (
            module.permanent_ratio(parameters) if i == last else module.ratio_after(parameters, i + 1)
        )
        if numerator << FRACTION_BITS > exp_lower_long(charges[i]) * denominator:
            return True
    return False
