"""Results as Arrow tables, and those as Parquet or as an Arrow stream: columns with their types, nothing rounded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

Binary = Literal["parquet", "arrow"]
BINARY: tuple[Binary, ...] = ("parquet", "arrow")


def arrow_table(columns: Mapping[str, Sequence[Any] | Any], described: Mapping[str, Any]) -> pa.Table:
    """``columns`` as an Arrow table, with ``described`` as JSON under ``hubbub`` in the schema's metadata.

    A NaN, which says that there is no such number, is null.
    """
    arrays = {
        name: pa.array(list(column) if isinstance(column, tuple) else column, from_pandas=True)
        for name, column in columns.items()
    }
    table = pa.table(arrays)
    return table.replace_schema_metadata({"hubbub": json.dumps(described, ensure_ascii=False, allow_nan=False)})


def write(table: pa.Table, file: BinaryIO, form: Binary) -> None:
    """Writes ``table`` as one Parquet file, or as an Arrow IPC stream. Raises OSError."""
    if form == "parquet":
        pq.write_table(table, file)
    else:
        with pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
