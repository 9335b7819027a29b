"""What a device embeds: it randomises a value before anything leaves the device.

Runs unchanged on CPython and MicroPython.
"""
