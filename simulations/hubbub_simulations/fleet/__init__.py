"""A fleet: many simulated devices that report to a running collector, one a line of a file.

values -> uploads (``reference`` or ``vectorised``) -> sending; what became of them all is in a ``Tally``.
"""
