"""Results as pandas DataFrames: pandas is not among what the decoder needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hubbub_decoder.errors import DecodeError

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """``columns`` as a DataFrame. Raises DecodeError without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise DecodeError("to_pandas needs pandas; pip install pandas") from None
    return pd.DataFrame(columns)
