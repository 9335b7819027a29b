"""Reports sealed to the analyst's key, so that a shuffler can pass them on without reading them. For hosts only.

Needs the extra ``hubbub[shuffler]``. docs/shuffling.md says who sees what.
"""

from hubbub_sealing.keys import KeyFileError, PublicKey
from hubbub_sealing.transport import SealedTransport

__all__ = ["KeyFileError", "PublicKey", "SealedTransport"]
