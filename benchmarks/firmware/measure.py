"""Measures a program under MicroPython for Unix. Arguments: LIBRARY PROGRAM ARGUMENT...

LIBRARY is a folder, or an image of one for ROMFS, which is mounted.
"""

import gc
import sys

library, program = sys.argv[1], sys.argv[2].rsplit("/", 1)
sys.argv[:] = sys.argv[2:]
sys.path.clear()
if library.endswith(".romfs"):
    import vfs

    with open(library, "rb") as file:
        image = file.read()  # in memory before anything is measured, as a board has it in flash
    library = "/rom"
    vfs.mount(vfs.VfsRom(image), library)
for folder in (library, program[0], ".frozen"):
    sys.path.append(folder)
steps = __import__(program[1].rsplit(".", 1)[0]).figures()
first = -1
for step in steps:
    if isinstance(step, str):
        gc.collect()
        used = gc.mem_alloc()  # type: ignore[attr-defined]
        first = used if first < 0 else first
        print(step, used - first)
    else:
        print(step[0], step[1])
