"""How the settings become a transport: one module each, loaded by name, so that a board holds the one that it uses.

Each has ``KEYS``, the settings it reads and their defaults, and ``transport_of(settings, ca, source, learn, board,
plan, storage)``: ``ca`` is the content of the certificate file, or None; ``source`` gives random bytes; ``learn`` takes
a date. Raises TransportError for settings that cannot be used.
"""
