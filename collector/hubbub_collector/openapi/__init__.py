"""The description of the address that takes uploads, in OpenAPI 3.1: built here once, and served as it is."""

from hubbub_collector.openapi.description import PATH, description, rendered

__all__ = ["PATH", "description", "rendered"]
