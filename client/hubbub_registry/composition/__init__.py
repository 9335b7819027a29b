"""What many reports cost together, at a small delta; in a shuffled batch; for a household; and against a prior.

``parts`` turns a registry and a horizon into mechanisms that run side by side; ``closed``, ``renyi`` and ``losses``
compose them; ``shuffle`` and ``amplified`` say what an independent shuffler adds; ``answer`` says it all. Numeric
packages (the extra ``accounting``) are imported where a function needs them, so that the base install has the rest.
"""
