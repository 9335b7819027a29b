"""What can be wrong with a registry file: every problem at once, each with its place and its remedy."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub_client.errors import HubbubError


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong. ``where`` is a TOML path such as ``metrics.emoji.epsilon``."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.remedy}"


class RegistryError(HubbubError):
    """A registry that cannot be used. ``problems`` lists everything found wrong with it, not just the first."""

    def __init__(self, path: str, problems: list[Problem]) -> None:
        self.path = path
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{path}: {problem}" for problem in problems))


class DatasetError(HubbubError):
    """A sealed data set, or a data directory, that is not what it should be. The message names the file."""
