from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry.commands import client, main
from hubbub_registry.commands.client import snapshot

from tests.client.reporter.reporting import Collector, plan_of, reporter_of

PLAN = plan_of(
    emoji={"mechanism": "count-mean-sketch", "lifetime_epsilon": 10, "reports_per_period": 2},
    site={"mechanism": "rappor", "lifetime_epsilon": "unbounded", "unbounded_justification": "a test of the command"},
)


@pytest.fixture(autouse=True)
def _command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command under test, whatever the installation lists."""
    entry_point = EntryPoint("client", client.__name__, "hubbub.commands")
    monkeypatch.setattr("hubbub_registry.commands.find_commands", lambda: {"client": entry_point})


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory with two reports sent and one waiting, in use while the command reads it."""
    folder = tmp_path / "state"
    collector = Collector()
    with reporter_of(PLAN, str(folder), collector) as reporter:
        assert reporter.record("emoji", "a value of one's own")
        assert reporter.record("site", "a value of one's own")
        assert reporter.flush().sent == 2
        assert reporter.record("emoji", "a")
    return folder


def output(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["client", *map(str, arguments)]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


def test_the_log_is_printed_with_the_bytes_that_were_sent(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a report: state, metric, period, epsilon and the record in hex; and the same as JSON."""
    lines = output(capsys, "log", state).splitlines()
    shown: list[dict[str, Any]] = json.loads(output(capsys, "log", state, "--json"))
    assert [line["state"] for line in shown] == ["sent", "sent", "pending"]
    assert [line["metric"] for line in shown] == ["emoji", "site", "emoji"]
    for line, text in zip(shown, lines[1:], strict=True):
        metric = PLAN.metric(line["metric"])
        assert line["epsilon_nano"] == metric.epsilon_nano
        assert len(line["record"]) == 2 * metric.record_bytes
        assert line["fingerprint"] == metric.fingerprint.hex()
        assert text.split() == [
            line["state"], line["metric"], str(line["period"]), f"{line['epsilon_nano'] / 1e9:.9f}", line["record"],
        ]  # fmt: skip


def test_the_status_is_what_was_spent_and_is_left(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spent and left of each metric, the total, and whether the device is on."""
    shown = json.loads(output(capsys, "status", state, "--json"))
    emoji, site = shown["metrics"]["emoji"], shown["metrics"]["site"]
    cost = PLAN.metric("emoji").epsilon_nano
    assert (emoji["spent_nano"], emoji["left_nano"]) == (2 * cost, 10 * 10**9 - 2 * cost)
    assert (site["spent_nano"], site["left_nano"]) == (PLAN.metric("site").charges[0], None)
    assert shown["spent_nano"] == emoji["spent_nano"] + site["spent_nano"]
    assert emoji["reports_in_period"] == 2
    text = output(capsys, "status", state)
    assert text.startswith("on\n")
    assert "unbounded" in text
    with reporter_of(PLAN, str(state)) as reporter:
        assert reporter.set_enabled(False)
        assert output(capsys, "status", state).startswith("off: this device opted out\n")
    assert json.loads(output(capsys, "log", state, "--json")) == []


def test_the_command_needs_no_lock_and_changes_nothing(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While an app holds the state the command reads it, never the secret, and writes nothing."""
    with reporter_of(PLAN, str(state)) as reporter:
        assert reporter.record("site", "b") is False  # the period is used up; the state is locked now
        before = {path.name: path.read_bytes() for path in state.iterdir()}
        (state / "secret").chmod(0)
        output(capsys, "log", state)
        output(capsys, "status", state)
        (state / "secret").chmod(0o600)
        assert {path.name: path.read_bytes() for path in state.iterdir()} == before
    assert "secret" not in snapshot(state).files


def test_a_file_that_is_renamed_while_it_is_read_is_read_again(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is never missing from the log because its file got another fate meanwhile."""
    honest = Path.read_bytes
    (pending,) = [path for path in state.iterdir() if path.name.startswith("open-")]
    moved = pending.with_name(pending.name.replace("open", "upload"))

    def racing(path: Path) -> bytes:
        if path == pending and pending.exists():
            pending.rename(moved)
        return honest(path)

    monkeypatch.setattr(Path, "read_bytes", racing)
    assert moved.name in snapshot(state).files
    monkeypatch.setattr(Path, "read_bytes", lambda path: honest(path.with_name("gone")))
    with pytest.raises(FileNotFoundError):
        snapshot(state)


@pytest.mark.parametrize("fault", ["damaged", "lost", "older"])
def test_a_ledger_that_is_not_known_is_an_error(state: Path, capsys: pytest.CaptureFixture[str], fault: str) -> None:
    """Damaged, lost or rolled back: one line on stderr, exit status 1, and no figure."""
    older = (state / "ledger").read_bytes()
    with reporter_of(PLAN, str(state), clock=lambda: 1_800_086_400) as reporter:
        assert reporter.record("emoji", "a")
    if fault == "lost":
        (state / "ledger").unlink()
    else:
        (state / "ledger").write_bytes({"damaged": b"x" * 40, "older": older}[fault])
    assert main(["client", "status", str(state)]) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("hubbub client: error: ")
    assert fault in found.err
    assert main(["client", "log", str(state)]) == 0


def test_wrong_usage_and_missing_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty directory has spent nothing; a missing one is an error; without a subcommand the usage is shown."""
    assert json.loads(output(capsys, "status", tmp_path, "--json"))["spent_nano"] == 0
    assert main(["client", "log", str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err
    assert main(["client"]) == 2
    assert client.SUMMARY
