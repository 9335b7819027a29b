"""A small library of what could go wrong in linking, and a program over it that says what it sees."""

from __future__ import annotations

LIBRARY = {
    "hubbub_client.first": '''
"""Names that others have, too."""
LIMIT = 3
_HIDDEN = ("a", "b")
state = []


def size(count, limit=LIMIT):
    """A default that is a constant."""
    values = [limit for limit in range(count)]  # hides the argument in here only
    return limit + len(values)


class Thing:
    """Its members have names that functions have as well."""

    kind = "first"

    def __init__(self, size):
        self.size = size
        if size > 100:
            return
        self.small = True

    def grown(self, by):
        return self.size + size(by)

    def acquire(self):
        return "ours"

    def release(self):
        return None


class RefusedError(ValueError):
    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def refuse(thing):
    raise RefusedError("large", "a thing of %d is more than %d" % (thing.size, LIMIT))


def remember(entry):
    state.append(entry)
    return len(state)


def left_out():
    return never_called_by_anyone
''',
    "hubbub_client.second": '''
from _thread import allocate_lock

from hubbub_client.first import LIMIT, RefusedError, Thing, refuse, remember
from hubbub_client.first import size as measure

state = "second"


def size(thing):
    LIMIT = 10
    return LIMIT + measure(thing.size) + len(state)


class Other:
    """A class with a member of the name that a class of the other module has."""

    def __init__(self):
        self._lock = allocate_lock()
        self.kind = "second"

    def hold(self):
        taken = self._lock.acquire(False)
        again = self._lock.acquire(False)
        self._lock.release()
        return taken, again


def aside(thing):
    size = 2
    return size * measure(thing.size)


def report(keyword=1, *, other=2):
    def inner(a, b=keyword):
        def innermost(c):
            return a, b, c, keyword, other, LIMIT

        return innermost

    return inner(5)(6)


def rare(thing):
    from hubbub_client.third import deep

    return deep(thing), remember("rare")


def told(thing):
    try:
        refuse(thing)
    except RefusedError as error:
        return error.reason, str(error)
''',
    "hubbub_client.third": '''
"""Only the overlay needs it."""


class Passing:
    def __init__(self, thing):
        self.thing = thing

    def depth(self):
        return self.thing.size * 2


def deep(thing):
    return Passing(thing).depth()
''',
}
PROGRAM = """
from hubbub_client.first import Thing, remember
from hubbub_client.second import Other, aside, rare, report, size, told

thing = Thing(7)
print(thing.size, thing.kind, thing.grown(2), thing.small, hasattr(Thing(101), "small"), size(thing))
print(Other().hold(), Other().kind, report(), report(keyword=3, other=4), aside(thing))
print(rare(thing), rare(thing), remember("main"), told(thing))
"""
EXPECTED = """\
7 first 12 True False 26
(True, False) second (5, 1, 6, 1, 2, 3) (5, 3, 6, 3, 4, 3) 20
(14, 1) (14, 2) 3 ('large', 'a thing of 7 is more than 3')
"""
OVERLAYS = {"hubbub_rare": ("rare", "told")}
