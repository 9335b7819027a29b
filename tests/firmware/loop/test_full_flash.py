"""A flash with no room left, as a real LittleFS in memory."""

from __future__ import annotations

from tests.firmware.loop.boards import Board

FULL = """\
import os
import vfs
from hubbub_client.file_storage import FileStorage


class Flash:
    def __init__(self, blocks):
        self.data = bytearray(blocks * 512)

    def readblocks(self, block, buffer, offset=0):
        at = block * 512 + offset
        buffer[:] = self.data[at : at + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        at = block * 512 + offset
        self.data[at : at + len(buffer)] = buffer

    def ioctl(self, what, _):
        return {4: 64, 5: 512, 6: 0}.get(what)


flash = Flash(64)
vfs.VfsLfs2.mkfs(flash)
vfs.mount(vfs.VfsLfs2(flash), "/flash")


def fill(folder, size):
    made = 0
    try:
        while True:
            with open("%s/rubbish%d" % (folder, made), "wb") as file:
                file.write(bytes(size))
            made += 1
    except OSError:
        return


def clear(folder):
    for name in os.listdir(folder):
        if name.startswith("rubbish"):
            os.remove(folder + "/" + name)


def made():
    return FileStorage("/flash/state")


board.storage = made
"""


def test_a_full_flash_reports_nothing_and_recovers(device: Board) -> None:
    """A LittleFS with no room gives no report and a count; with room again reports go on, on the same ledger."""
    device.set(read_seconds=1)
    setup = FULL + (
        "rounds = []\n\n\n"
        "def read():\n"
        "    rounds.append(1)\n"
        "    if len(rounds) == 2:\n"
        "        fill('/flash', 512)\n"
        "        fill('/flash/state', 40)\n"
        "    if len(rounds) == 3:\n"
        "        clear('/flash')\n"
        "        clear('/flash/state')\n"
        "    return [('band', 'a')]\n"
    )
    console = device.run(setup=setup, rounds=3)
    assert "hubbub: OSError\n" in console
    assert console.endswith("ran True\n")
    # The first and the third reading, of one byte each, in one upload.
    assert device.receiver.sizes == [37 + 2]
    assert device.troubles()["storage"] >= 1
