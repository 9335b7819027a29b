"""What a device embeds: it randomises a value before anything leaves the device.

Runs unchanged on CPython and MicroPython. Each name is loaded when it is first asked for, so that a board holds in
memory only what it uses.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.delivery import FlushResult
    from hubbub_client.errors import (
        EntropyError,
        HubbubError,
        OtherDeviceError,
        PlanChangeError,
        PlanError,
        RejectedValueError,
        RolledBackError,
        StateError,
        UnknownMetricError,
    )
    from hubbub_client.file_storage import FileStorage
    from hubbub_client.frames import Report
    from hubbub_client.http_transport import HttpTransport
    from hubbub_client.plan import Plan
    from hubbub_client.reporter import Reporter
    from hubbub_client.storage import MemoryStorage, StateInUseError
    from hubbub_client.transport import Answer, TransportError

_HOMES = {
    "Answer": "transport",
    "EntropyError": "errors",
    "FileStorage": "file_storage",
    "FlushResult": "delivery",
    "HttpTransport": "http_transport",
    "HubbubError": "errors",
    "MemoryStorage": "storage",
    "OtherDeviceError": "errors",
    "Plan": "plan",
    "PlanChangeError": "errors",
    "PlanError": "errors",
    "RejectedValueError": "errors",
    "Report": "frames",
    "Reporter": "reporter",
    "RolledBackError": "errors",
    "StateError": "errors",
    "StateInUseError": "storage",
    "TransportError": "transport",
    "UnknownMetricError": "errors",
}

__all__ = [
    "Answer",
    "EntropyError",
    "FileStorage",
    "FlushResult",
    "HttpTransport",
    "HubbubError",
    "MemoryStorage",
    "OtherDeviceError",
    "Plan",
    "PlanChangeError",
    "PlanError",
    "RejectedValueError",
    "Report",
    "Reporter",
    "RolledBackError",
    "StateError",
    "StateInUseError",
    "TransportError",
    "UnknownMetricError",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError("module 'hubbub_client' has no attribute %r" % name)
    module = __import__("hubbub_client." + _HOMES[name], None, None, [name])
    return getattr(module, name)
