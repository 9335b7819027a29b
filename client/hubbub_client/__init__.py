"""What a device embeds: it randomises a value before anything leaves the device.

Runs unchanged on CPython and MicroPython. Each name is loaded when it is first asked for, so that a board holds in
memory only what it uses.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.delivery import FlushResult as FlushResult
    from hubbub_client.errors import EntropyError as EntropyError
    from hubbub_client.errors import HubbubError as HubbubError
    from hubbub_client.errors import OtherDeviceError as OtherDeviceError
    from hubbub_client.errors import PlanChangeError as PlanChangeError
    from hubbub_client.errors import PlanError as PlanError
    from hubbub_client.errors import RejectedValueError as RejectedValueError
    from hubbub_client.errors import RolledBackError as RolledBackError
    from hubbub_client.errors import StateError as StateError
    from hubbub_client.errors import StateInUseError as StateInUseError
    from hubbub_client.errors import UnknownMetricError as UnknownMetricError
    from hubbub_client.file_storage import FileStorage as FileStorage
    from hubbub_client.frames import Report as Report
    from hubbub_client.http_transport import HttpTransport as HttpTransport
    from hubbub_client.plan import Plan as Plan
    from hubbub_client.reporter import Reporter as Reporter
    from hubbub_client.storage import MemoryStorage as MemoryStorage
    from hubbub_client.transport import Answer as Answer
    from hubbub_client.transport import TransportError as TransportError

    __all__: list[str]

# A line for each module: its name, then what it gives. One text, since a table of names would take a board six times
# the memory, for names that it mostly never asks for.
_HOMES = """delivery FlushResult
errors EntropyError HubbubError OtherDeviceError PlanChangeError PlanError RejectedValueError RolledBackError \
StateError StateInUseError UnknownMetricError
file_storage FileStorage
frames Report
http_transport HttpTransport
plan Plan
reporter Reporter
storage MemoryStorage
transport Answer TransportError"""


def __getattr__(name: str) -> object:
    exported = [line.split() for line in _HOMES.split("\n")]
    if name == "__all__":
        return [export for home in exported for export in home[1:]]
    for home in exported:
        if name in home[1:]:
            return getattr(__import__("hubbub_client." + home[0], None, None, [name]), name)
    raise AttributeError("module 'hubbub_client' has no attribute %r" % name)
