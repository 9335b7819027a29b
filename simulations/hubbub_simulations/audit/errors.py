"""What can stop an audit, as types. A failed audit is no error: it is a result."""

from __future__ import annotations

from hubbub_client.errors import HubbubError


class AuditError(HubbubError):
    """An audit that cannot be made: no description of a mechanism's noise, too few reports, a target that fails."""


class LayoutError(AuditError):
    """An encoder that does not use its random input, or fill its record, in the way its description says."""
