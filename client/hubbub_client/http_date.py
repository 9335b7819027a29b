"""HTTP dates, in integers, on boards too."""

# One text: a tuple of them would take a board ten times the memory.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"


def unix_time_of(text: str) -> "int | None":
    """The Unix time of a date such as ``Sun, 06 Nov 1994 08:49:37 GMT``; None for any other form.

    RFC 9110, section 5.6.7: the one form that a server may send since 1999. The day of the week is not looked at.
    """
    parts = text.replace(":", " ").split()
    if len(parts) != 8 or len(parts[2]) != 3 or parts[2] not in _MONTHS or parts[7] != "GMT":
        return None
    month = _MONTHS.index(parts[2]) // 4 + 1
    try:
        day, year, hour, minute, second = [int(parts[i]) for i in (1, 3, 4, 5, 6)]
    except ValueError:
        return None
    # Days since 1970 of a date in the Gregorian calendar, with years that begin in March, so that the leap day is last.
    if month <= 2:
        month += 12
        year -= 1
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469
    return 86400 * days + 3600 * hour + 60 * minute + second
