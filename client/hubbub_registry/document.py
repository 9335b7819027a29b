"""A registry file as TOML tables, before anything is known of their meaning."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from hubbub_registry.errors import Problem, RegistryError


def read_document(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, with every real number as the exact decimal that was written.

    Raises RegistryError where the file cannot be read or is not UTF-8 or not TOML.
    """
    try:
        # Decimals, so that 0.45 is 45/100 and not the float beside it.
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        problem = Problem("file", f"cannot be read ({error.strerror})", "name a registry file")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problem = Problem("file", f"is not UTF-8 at line {line}", "save it as UTF-8")
    except tomllib.TOMLDecodeError as error:
        problem = Problem("file", f"is not TOML: {error}", "correct it there (a table or key may stand only once)")
    except (ValueError, RecursionError):  # a number of thousands of digits; a list nested a thousand deep
        problem = Problem("file", "holds a number too long, or lists too deep, to be read", "write a plain registry")
    raise RegistryError(str(path), [problem])
