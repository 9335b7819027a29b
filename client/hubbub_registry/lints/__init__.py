"""Named checks over a registry that loads: each finds one kind of thing a reviewer would stop at."""
