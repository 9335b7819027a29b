"""A million inputs for everything that reads a stranger's bytes, guided by which code they reach.

``python benchmarks/collector/fuzz.py [--runs 1000000] [--seed 1] [--keep]``

Every input goes to the parsers of uploads, of troubles and of ciphertexts. None may raise anything but a refusal, take
longer than two seconds, or, of every 16th input, more memory than a worker's bound reckons with. What libFuzzer's own
limits find (15 seconds, 1 GB) ends the run as well. An input that fails is written to the folder that is printed.
``--keep`` adds what reached something new to ``tests/collector/fuzz/corpus``. Needs atheris (``pip install atheris``:
Linux on x86-64).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

_MEASURE_EVERY = 16
_MOST_BYTES = 4096
_SEED = "seed-"


def fuzz(arguments: list[str]) -> None:
    """The process that libFuzzer takes over: it never returns."""
    import atheris

    with atheris.instrument_imports(include=["hubbub_collector", "json.decoder"], enable_loader_override=False):
        from tests.collector.fuzz.targets import TARGETS, feed, feed_measured
    count = 0

    def one(data: bytes) -> None:
        nonlocal count
        count += 1
        measured = feed if count % _MEASURE_EVERY else feed_measured
        for name in TARGETS:
            measured(name, data)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """libFuzzer with its own arguments; its status and its words. An input that fails is left in ``folder``."""
    limits = [f"-max_len={_MOST_BYTES}", "-timeout=15", "-rss_limit_mb=1024", f"-artifact_prefix={folder}/"]
    command = [sys.executable, __file__, "--within", *limits, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def keep(found: Path, corpus: Path) -> int:
    """Adds what was found to ``corpus``; how many inputs are there then. The seeds are made anew each time."""
    for path in found.iterdir():
        if not path.name.startswith(_SEED):
            data = path.read_bytes()
            (corpus / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
    return len(list(corpus.iterdir()))


def main() -> int:
    """Prints what was done as JSON; status 1 where an input failed."""
    if sys.argv[1:2] == ["--within"]:
        fuzz(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000, help="how many inputs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the fuzzer's choices (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="add what was found to the corpus in tests")
    arguments = parser.parse_args()
    try:
        import atheris  # noqa: F401 - asked for before anything is begun
    except ImportError:
        print("fuzz.py: needs atheris: pip install atheris", file=sys.stderr)
        return 2
    from tests.collector.fuzz.targets import CORPUS, SEEDS

    folder = Path(tempfile.mkdtemp(prefix="hubbub-fuzz-"))
    found = folder / "found"
    found.mkdir()
    for number, data in enumerate(SEEDS):
        (found / f"{_SEED}{number}").write_bytes(data)
    began = time.monotonic()
    status, said = run(folder, f"-runs={arguments.runs}", f"-seed={arguments.seed}", str(found), str(CORPUS))
    seconds = time.monotonic() - began
    outcome: dict[str, object] = {"holds": status == 0, "seconds": round(seconds, 1)}
    with contextlib.suppress(StopIteration):
        last = next(line for line in reversed(said.splitlines()) if "cov:" in line)
        outcome["coverage"] = int(re.findall(r"cov: (\d+)", last)[0])
        outcome["inputs"] = int(re.findall(r"#(\d+)", last)[0])
    if status:
        print("\n".join(said.splitlines()[-40:]), file=sys.stderr)
        print(f"fuzz.py: the input that failed is in {folder}", file=sys.stderr)
    elif arguments.keep:
        outcome["corpus"] = keep(found, CORPUS)
    if not status:
        shutil.rmtree(folder)
    print(json.dumps(outcome, indent=1))
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main())
