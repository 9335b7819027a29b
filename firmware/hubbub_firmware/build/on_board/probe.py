"""Runs a built folder under MicroPython, and prints what it takes. Arguments: the sandbox, the board's platform.

The folder is mounted at /rom, and a LittleFS of its own, in the file flash.img, at the root: nothing else can be read
or written. ``stubs`` stands in for what only a board has. Each line that begins with ``probe `` is a result, in JSON.
"""

import gc
import json
import os
import sys
import time

import vfs

_SANDBOX, _PLATFORM = sys.argv[1:3]
_BLOCK, _BLOCKS = 4096, 64


def _tell(**result):
    print("probe " + json.dumps(result))


class _Board:
    """The board's ``sys``: this interpreter's, but for the platform."""


class _Flash:
    """Blocks in a file, which so take no memory."""

    def __init__(self, file):
        self._file = file

    def readblocks(self, block, buffer, offset=0):
        self._file.seek(block * _BLOCK + offset)
        self._file.readinto(buffer)

    def writeblocks(self, block, buffer, offset=0):
        self._file.seek(block * _BLOCK + offset)
        self._file.write(buffer)

    def ioctl(self, what, _):
        return {4: _BLOCKS, 5: _BLOCK, 6: 0}.get(what)


def _library():
    """The image of the library, as one object without a byte to spare; None where the library is in files."""
    try:
        image = bytearray(os.stat(_SANDBOX + "/library.img")[6])
    except OSError:
        return None
    with open(_SANDBOX + "/library.img", "rb") as file:
        file.readinto(image)
    return image


def _become_the_board():
    flash_rom = _library()
    flash = _Flash(open(_SANDBOX + "/flash.img", "r+b"))  # noqa: SIM115 - it stays open
    vfs.VfsLfs2.mkfs(flash)
    vfs.umount("/")
    vfs.mount(vfs.VfsLfs2(flash), "/")
    vfs.mount(vfs.VfsPosix(_SANDBOX), "/rom")
    library = "/rom/lib"
    if flash_rom:
        vfs.mount(vfs.VfsRom(flash_rom), "/romfs")
        library = "/romfs"
    os.chdir("/rom")
    sys.path.clear()
    sys.path.extend(["", ".frozen", library])
    board_sys = _Board()
    for name in dir(sys):
        setattr(board_sys, name, getattr(sys, name))
    board_sys.platform = _PLATFORM
    sys.modules["sys"] = board_sys
    sys.path.append("/rom/stubs")
    for name in ("machine", "network", "stm", "esp32"):
        sys.modules[name] = __import__(name)


class _Clock:
    """Jumps to another period of a metric with each report of it, so that none is used up."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


def _probe(board, read, folder="", transport=None, feed=gc.collect, rounds=None, clock=None):
    """In place of the main loop: a few reports of each metric, with an upload of its own for the first of each.

    Only the first has to be made: the later ones, for their times, may find the metric expired or its budget spent.
    """
    from hubbub_firmware.device import Device

    with open("check.json") as file:
        task = json.load(file)
    clock = _Clock(task["now"])
    frames = []
    if hasattr(board, "send_frame"):
        send = board.send_frame

        def counted(frame):
            send(frame)
            frames.append(len(frame))

        board.send_frame = counted
    device = Device(board, folder, transport, feed, clock)
    reporter = device.reporter
    times = {}
    for i in range(task["reports"]):
        for metric in task["metrics"]:
            clock.now = task["now"] + i * metric["period"]
            gc.collect()
            before = time.ticks_us()
            taken = reporter.record(metric["name"], metric["value"], metric["dimension"])
            passed = time.ticks_diff(time.ticks_us(), before)
            if taken:
                times.setdefault(metric["name"], []).append(passed)
            elif i == 0:
                _tell(metric=metric["name"], problem=reporter.problem)
            if i == 0:
                device.upload()
    _tell(times=times, frames=frames if hasattr(board, "send_frame") else None)
    before = dict(reporter.counts)
    device.record(read)
    counts = {}
    for reason in reporter.counts:
        if reporter.counts[reason] != before.get(reason):
            counts[reason] = reporter.counts[reason] - before.get(reason, 0)
    _tell(refused=counts, said=device.problem)


_become_the_board()
gc.collect()
_start = gc.mem_alloc()
_tell(own=_start)
import hubbub_firmware.loop  # noqa: E402 - the board comes first

gc.collect()
_tell(imported=gc.mem_alloc() - _start)
hubbub_firmware.loop.run = _probe
import main  # noqa: E402, F401

_tell(done=True)
