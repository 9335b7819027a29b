"""The privacy statement: what one registry promises, to whom, and what it does not, for people who must sign it off.

``build.statement`` gives a document (``document``) from what is known (``facts``); ``markdown`` and ``html`` render it,
and ``deployment`` turns the same facts into an entry for the public registry of deployments.
"""
