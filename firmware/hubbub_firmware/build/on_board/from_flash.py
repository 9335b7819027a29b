"""Runs a program whose library lies in flash. Arguments: the image, the program's module, and the program's own.

Modules are looked for in the current folder, in the image's, and in the image. The image stands for the flash, which a
process does not have: it is one object in the heap, so give the heap as many bytes more as it has.
"""

import os
import sys

import vfs

image = bytearray(os.stat(sys.argv[1])[6])
with open(sys.argv[1], "rb") as file:
    file.readinto(image)
vfs.mount(vfs.VfsRom(image), "/romfs")
sys.path.clear()
sys.path.extend(["", sys.argv[1].rpartition("/")[0] or ".", ".frozen", "/romfs"])
del sys.argv[0:2]
__import__(sys.argv[0])
