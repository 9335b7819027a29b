"""Records, frames, uploads, dates and values are the same bytes as on a host. Arguments: CLIENT GIVEN."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.errors import RejectedValueError
from hubbub_client.frames import Report, frame, parse
from hubbub_client.http_date import unix_time_of
from hubbub_client.records import pack, unpack, width
from hubbub_client.upload import batches_of, build
from hubbub_client.values import to_bytes

with open(sys.argv[2]) as file:
    given = json.load(file)
for fields, values, record in given["records"]:
    assert pack(fields, values).hex() == record
    assert unpack(fields, bytes.fromhex(record)) == values
    assert width(fields) == len(record) // 2
for upload_id, reports, body in given["uploads"]:
    made = build(bytes.fromhex(upload_id), batches_of([(bytes.fromhex(f), p, bytes.fromhex(r)) for f, p, r in reports]))
    assert made.hex() == body, body
for text, seconds in given["dates"]:
    assert unix_time_of(text) == seconds, text

report = Report("a metric", bytes(range(8)), 20833, 1 << 40, (1 << 63) + 5, bytes(range(200)))
framed = frame(report)
reports, whole = parse(framed + framed)
assert whole and reports == [report, report]
for cut in range(1, len(framed)):
    reports, whole = parse(framed + framed[:cut])
    assert not whole and reports == [report], cut
for at in range(0, len(framed), 7):
    assert parse(framed[:at] + bytes([framed[at] ^ 0x10]) + framed[at + 1 :]) == ([], False), at

for value, data in ((True, b"true"), (-5, b"-5"), (1 << 70, b"1180591620717411303424"), (b"\xc3\xaf", b"\xc3\xaf")):
    assert to_bytes(value) == data, value
for bad, reason in ((None, "type"), ("x" * 257, "too-long"), (10**300, "too-long"), (b"\xff", "not-utf-8")):
    try:
        to_bytes(bad)
    except RejectedValueError as error:
        assert error.reason == reason, reason
    else:
        raise AssertionError(reason)
print("the wire holds")
