"""Host side of hubbub's metric definitions: author, check, calibrate and compile them; exact epsilon."""

from hubbub_registry.errors import Problem, RegistryError
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry, load_registry

__all__ = ["Metric", "Problem", "Registry", "RegistryError", "load_registry"]
