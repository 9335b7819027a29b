"""A record: the fields of one report, bit-packed from the lowest bit up, little-endian, padded with zero bits."""


def pack(fields: "list[tuple[str, int, int]]", values: "list[int]") -> bytes:
    """The record that holds ``values``, one for each ``(name, bits, domain)`` of ``fields``.

    The caller keeps each value below its domain; ``width(fields)`` bytes come out whatever the values are.
    """
    record = 0
    at = 0
    for i in range(len(fields)):
        record |= values[i] << at
        at += fields[i][1]
    return record.to_bytes((at + 7) // 8, "little")


def unpack(fields: "list[tuple[str, int, int]]", record: bytes) -> "list[int]":
    """The fields of ``record``, unchecked: the inverse of ``pack``."""
    number = int.from_bytes(record, "little")
    values = []
    for field in fields:
        values.append(number & ((1 << field[1]) - 1))
        number >>= field[1]
    return values


def width(fields: "list[tuple[str, int, int]]") -> int:
    """The size of a record in bytes."""
    return (sum([field[1] for field in fields]) + 7) // 8


def bits_for(domain: int) -> int:
    """How many bits hold the integers below ``domain``; 0 where there is only one."""
    bits = 0
    while (1 << bits) < domain:
        bits += 1
    return bits
