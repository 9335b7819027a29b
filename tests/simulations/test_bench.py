"""The benchmark measures the right thing, and never makes a figure up. No test depends on how long anything takes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import chain, cycle
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import hadamard

from hubbub_registry.commands import main
from hubbub_simulations.bench import figures, floors
from hubbub_simulations.bench.client import METRICS, against_peer
from hubbub_simulations.bench.decoder import estimation, reports
from hubbub_simulations.bench.measure import Comparison, Timer, at_most, in_turn
from hubbub_simulations.bench.peer import run_peer
from hubbub_simulations.errors import PeerUnavailableError


@pytest.mark.parametrize("name", METRICS)
def test_every_form_of_a_floor_gives_the_same_counts(name: str) -> None:
    """A floor that did less than the sum it stands for would be no floor: all forms agree."""
    metric = METRICS[name]()
    records = reports(metric, 10_007)
    first, *others = [form() for form in floors.plain_numpy(metric, records)]
    for other in others:
        assert np.array_equal(first, other[: len(first)])
        assert not other[len(first) :].any()
    is_bits = len(others) == len(floors._PIECES)
    assert int(first.sum()) == (int(np.unpackbits(records).sum()) if is_bits else len(records))


@pytest.mark.parametrize(("width", "hashes"), [(2, 1), (8, 3), (64, 5)])
def test_both_forms_of_the_plain_transform_are_the_transform(width: int, hashes: int) -> None:
    """The floor of estimation is multiplication with the Hadamard matrix, by rows and by columns."""
    table = np.random.default_rng(1).integers(-9, 9, (width, hashes)).astype(np.float64)
    assert np.array_equal(floors.walsh_hadamard_of_columns(table), hadamard(width) @ table)
    assert np.array_equal(floors.walsh_hadamard_of_rows(table.T.copy()), (hadamard(width) @ table).T)


def test_measurements_alternate_and_keep_the_least() -> None:
    """Each round measures both, one after the other, and the least of each is what counts."""
    order: list[str] = []
    times = {"a": iter([3.0, 1.0, 2.0]), "b": iter([6.0, 5.0, 4.0])}

    def fake(name: str, number: int) -> float:
        order.append(name)
        assert number == 7
        return next(times[name])

    assert in_turn(lambda n: fake("a", n), lambda n: fake("b", n), number=7, repeats=3) == [1.0, 4.0]
    assert order == ["a", "b"] * 3


def test_a_missing_peer_is_reported_as_missing() -> None:
    """Without the peer there is no ratio and no verdict, for a figure that only the peer can decide."""
    for comparison in against_peer(None):
        assert comparison.seconds > 0
        assert comparison.reference_seconds is None
        assert comparison.ratio is None
        assert comparison.met is None
    (whole,) = estimation(None)
    assert whole.ratio is None
    assert whole.met in (True, None)  # ten milliseconds can be told without the peer, 25x cannot


def test_a_verdict_is_of_the_figures() -> None:
    """The bound itself is met, one beyond it is not, and nothing is said where there is nothing to compare with."""
    assert at_most(2.0, 1.0, 2) is True
    assert at_most(2.0000001, 1.0, 2) is False
    assert at_most(2.0, None, 2) is None
    assert Comparison("a", 3.0, "b", 2.0, "", None).to_dict()["ratio"] == 1.5


def _recorded(times: list[float]) -> Timer:
    """A timer that gives 1000 in the round that does not count, then these times again and again."""
    each = chain([1000.0], cycle(times))
    return lambda number: next(each) * number


def test_a_figure_is_the_median_ratio_to_the_fastest_reference() -> None:
    """Rounds are compared one by one, the first is left out, and of several references the fastest counts."""
    ours, slow, fast = _recorded([2.0, 40.0, 2.0]), _recorded([9.0]), _recorded([1.0, 10.0, 4.0])
    measured = figures.compare("a", "report", ours, "b", [slow, fast], 2.0)
    assert (measured.seconds, measured.reference_seconds, measured.ratio, measured.held) == (2.0, 4.0, 2.0, True)
    assert replace(measured, limit=1.9).held is False
    assert measured.to_dict()["held"] is True


def test_a_figure_without_its_peer_has_no_verdict() -> None:
    """Where the peer cannot be run there is neither a ratio nor a verdict."""
    measured = figures.compare("a", "report", _recorded([2.0]), "b", [], 2.0)
    assert (measured.seconds, measured.reference_seconds, measured.ratio, measured.held) == (2.0, None, None, None)


def test_the_figures_name_what_there_is() -> None:
    """Whatever is held against the peer is aggregated, and each of its tasks is one that the peer's script lists."""
    assert set(figures.BESIDE_PURE_LDP) <= {name for name, *_ in figures.AGGREGATED}
    asked = {"pure_ldp": {"olh-server", *(task for task, *_ in figures.BESIDE_PURE_LDP.values())}}
    for folder, tasks in {**asked, "multi_freq_ldpy": {"olh-server-20-reports"}}.items():
        script = (Path(__file__).parents[2] / "benchmarks" / "peers" / folder / "serve.py").read_text()
        listed = set(re.findall(r'"([a-z0-9-]+)":', script[script.index("TASKS = {") :]))
        assert tasks <= listed


def test_a_folder_without_a_peer_says_what_to_do(tmp_path: Path) -> None:
    """Outside a checkout there is no peer, and the message says where to run."""
    with pytest.raises(PeerUnavailableError, match=r"no serve\.py.*run from a checkout"), run_peer(tmp_path, tmp_path):
        pass


def _peer(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "serve.py").write_text(script)
    (folder / "requirements.txt").write_text("")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for peers of one name and the same requirements: making an environment takes seconds."""
    return tmp_path_factory.mktemp("cache")


def test_a_peer_runs_in_its_own_environment_and_is_asked_again(tmp_path: Path, cache: Path) -> None:
    """The environment is made once, and the peer answers from a Python other than ours."""
    # A call that is not timed, the one and the two that are asked for; the next one ends the peer.
    script = (
        "import sys\n"
        "assert sys.prefix != sys.base_prefix\n"
        "assert 'numpy' not in sys.modules\n"
        "left = [1] * 4\n"
        "TASKS = {'task': lambda: left.pop}\n"
    )
    folder = _peer(tmp_path / "mute", script)
    with run_peer(folder, cache) as peer:
        assert all(0 <= peer.timer("task")(number) < 1 for number in (1, 2))
        with pytest.raises(PeerUnavailableError):
            peer.timer("task")(1)
    (environment,) = cache.iterdir()
    made = (environment / "complete").stat().st_mtime_ns
    with run_peer(folder, cache) as peer:
        assert 0 <= peer.timer("task")(1) < 1
    assert (environment / "complete").stat().st_mtime_ns == made


def test_a_peer_that_dies_is_unavailable(tmp_path: Path, cache: Path) -> None:
    """A peer that stops gives an error with its name, and no figure."""
    folder = _peer(tmp_path / "mute", "raise SystemExit(1)\n")
    with run_peer(folder, cache) as peer, pytest.raises(PeerUnavailableError, match="mute stopped"):
        peer.timer("task")(1)


def test_an_environment_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    """A requirement that cannot be installed is told as such, and leaves no environment that looks complete."""
    folder = _peer(tmp_path / "bad", "")
    (folder / "requirements.txt").write_text("./there-is-no-such-folder\n")
    with pytest.raises(PeerUnavailableError, match="environment of bad cannot be made"), run_peer(folder, tmp_path):
        pass
    assert not list(tmp_path.glob("*/complete"))


def test_the_command_gives_json_and_says_that_a_peer_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--json`` is one document with every figure; a missing peer is named, and a missed bound is exit status 1."""
    import hubbub_simulations.commands.bench as command

    lines = [Comparison("a", 1.0, "b", 2.0, "at most 2x", True), Comparison("c", 1.0, "peer", None, "faster", None)]
    monkeypatch.setattr(command, "_all", lambda _peer: iter(lines))
    assert main(["bench", "--json", "--no-peers"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["peer_missing"] == "left out by --no-peers"
    assert [figure["ratio"] for figure in document["figures"]] == [0.5, None]
    lines.append(Comparison("d", 3.0, "b", 1.0, "at most 2x", False))
    assert main(["bench", "--no-peers"]) == 1
    shown = capsys.readouterr()
    assert "n/a" in shown.out
    assert "NO" in shown.out
    assert "left out by --no-peers" in shown.err
