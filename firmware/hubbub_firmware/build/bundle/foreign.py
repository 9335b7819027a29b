"""Names of members that are not ours to rename, since something outside of a bundle has them, too, or asks for them."""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib

from hubbub_firmware.build.bundle.linking import Linked

# Of what a board or a program hands in, or is handed: storage, noise, transport, answer, clock, board.
PROTOCOLS = (
    "append", "ask_time", "boot_counter", "close", "connect", "counter", "advance", "counts", "device", "entropy_milli",
    "flush", "journal", "learn", "name", "names", "problem", "raw_source", "read", "ready", "record", "remove",
    "rename", "retry_after", "sample", "sample_bits", "send", "send_frame", "send_troubles", "settings", "status",
    "storage", "text", "wait", "write", "NAME", "PLATFORM", "PENDING_BYTES",
)  # fmt: skip
# What the library asks of a board's own modules, which no host has.
_OF_BOARDS = (
    "active", "config", "deinit", "erase_key", "get_blob", "ifconfig", "ioctl", "isconnected", "mount", "readblocks",
    "set_blob", "settime", "sync", "writeblocks", "set_callback", "subscribe", "publish", "ping", "check_msg",
    "wait_msg", "disconnect", "set_last_will",
)  # fmt: skip
# And of a host's: with the types in them, whatever these are called.
_MODULES = ("_thread", "errno", "gc", "hashlib", "io", "json", "os", "socket", "ssl", "sys", "time")


def _system_members() -> set[str]:
    modules = [builtins, *[importlib.import_module(name) for name in _MODULES]]
    things = [thing for module in modules for thing in vars(module).values()]
    types = [thing for thing in things if isinstance(thing, type)] + [type(thing) for thing in things]
    types += [type(hashlib.sha256()), type((lambda: (yield))())]
    return {name for module in modules for name in dir(module)} | {name for kind in types for name in dir(kind)}


def foreign_members(linked: Linked) -> set[str]:
    """Members of builtin types, of what the library uses of the system, and whatever is asked of a foreign module."""
    found = _system_members() | set(PROTOCOLS) | set(_OF_BOARDS)
    modules = {name for name, unit in linked.units.items() if unit.foreign}
    for statement in linked.statements():
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                found.add(node.attr)
            elif isinstance(node, ast.alias):
                found.add(node.name)
    return found
