"""From a registry to a folder that a board runs, and the proof that it runs. Host only; nothing portable imports it."""
