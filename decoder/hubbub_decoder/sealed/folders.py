"""What there is in the folders of a sealed data set; a folder that cannot be read is an error, never an empty one.

Hidden names, which begin with a dot, are passed over: no seal writes one, and systems and tools leave them anywhere
(macOS ``._00001.json`` beside each file that it copies).
"""

from __future__ import annotations

import os
from pathlib import Path

from hubbub_registry.errors import DatasetError


def folders_in(folder: Path) -> list[Path]:
    """The folders in ``folder``, in order of their names; none where it is not there. Raises DatasetError."""
    return sorted(Path(entry.path) for entry in _entries(folder) if _is_folder(entry))


def manifests_in(period: Path) -> list[Path]:
    """The manifests in a period's folder, in order of their names. Raises DatasetError."""
    return sorted(Path(entry.path) for entry in _entries(period) if entry.name.endswith(".json"))


def without_manifest(period: Path) -> list[Path]:
    """The sealed files in a period's folder that no manifest commits, in order of their names. Raises DatasetError."""
    names = {entry.name for entry in _entries(period)}
    files = (name for name in names if name.endswith(".parquet"))
    return sorted(period / name for name in files if name.removesuffix(".parquet") + ".json" not in names)


def check_data_folder(data: Path) -> None:
    """Raises DatasetError unless ``data`` is a folder that can be read."""
    try:
        with os.scandir(data):
            return
    except FileNotFoundError:
        raise DatasetError(
            f"{data}: there is no such folder; give the one that was given to: hubbub collect REGISTRY.toml --data DIR"
        ) from None
    except OSError as error:
        raise DatasetError(refused(data, error)) from None
    except ValueError:
        raise DatasetError(f"{str(data)!r} cannot be the name of a folder; correct it") from None


def refused(path: Path, error: OSError) -> str:
    """What the system refused at ``path``, and what to do about it."""
    if isinstance(error, PermissionError):
        remedy = "decode as a user who may read it, such as the one that runs hubbub seal, or change its permissions"
    elif isinstance(error, FileNotFoundError):
        remedy = "restore it from a copy"
    elif isinstance(error, NotADirectoryError):
        remedy = "a folder must be there; give the data directory of hubbub collect, or restore it from a copy"
    else:
        remedy = "check the disk, and restore it from a copy where it is damaged"
    return f"{path}: cannot be read ({error.strerror or error}); {remedy}"


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DatasetError(refused(folder, error)) from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as error:
        raise DatasetError(refused(Path(entry.path), error)) from None
