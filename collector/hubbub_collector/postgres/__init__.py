"""A PostgreSQL database that the collectors of several hosts commit to, and that one sealer empties.

``url.py`` reads the URL and never shows its password, ``schema.py`` makes the tables, ``link.py`` keeps a connection.
``store.py`` is the workers' side, ``source.py`` the sealer's. Needs psycopg (the extra ``postgres``), which nothing
outside of this package imports.
"""
