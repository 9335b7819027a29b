"""What ``hubbub check`` says of a registry, for machines and for people. Every epsilon shown is rounded up."""

from hubbub_registry.summary.for_machines import as_json
from hubbub_registry.summary.for_people import as_text

__all__ = ["as_json", "as_text"]
