"""What can be wrong with a question about composition."""

from __future__ import annotations

from importlib.util import find_spec

from hubbub_client.errors import HubbubError

_PACKAGES = ("numpy", "scipy", "dp_accounting")


class AccountingError(HubbubError):
    """A horizon, delta, batch, household or prior that nothing can be computed for."""


class MissingExtraError(AccountingError):
    """The extra ``accounting`` is not installed."""


def require_extra() -> None:
    """Raises MissingExtraError, which says what to install, where the numeric packages are missing."""
    missing = [name.replace("_", "-") for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"figures at a delta need {', '.join(missing)}, not installed here; run: pip install 'hubbub[accounting]'"
        )
