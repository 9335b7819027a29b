from __future__ import annotations

import subprocess
import sys

import hubbub_client


def test_the_package_exports_exactly_these_names() -> None:
    """What hubbub_client exports is a promise, and changes only on purpose."""
    assert sorted(hubbub_client.__all__) == [
        "Answer", "EntropyError", "FileStorage", "FlushResult", "HttpTransport", "HubbubError", "MemoryStorage",
        "OtherDeviceError", "Plan", "PlanChangeError", "PlanError", "RejectedValueError", "Report", "Reporter",
        "RolledBackError", "StateError", "StateInUseError", "TransportError", "UnknownMetricError",
    ]  # fmt: skip
    for name in hubbub_client.__all__:
        assert getattr(hubbub_client, name).__name__ == name
    assert not hasattr(hubbub_client, "Recorder")


def test_importing_the_package_loads_nothing_else() -> None:
    """Importing hubbub_client loads none of its modules and no network code, and a Reporter loads no network code."""
    check = (
        "import sys, hubbub_client\n"
        "assert [m for m in sys.modules if m.startswith('hubbub_client.')] == []\n"
        "from hubbub_client import Answer, Reporter, MemoryStorage\n"
        "assert 'urllib.request' not in sys.modules and 'http.client' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
