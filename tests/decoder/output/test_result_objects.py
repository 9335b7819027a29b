"""Results keep scipy's manners: what DESIGN names is there, typed, documented and printable."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

from hubbub_decoder import Change, Estimates, JointEstimates, Mean, Trend

NAMES: dict[type[Any], list[str]] = {
    Estimates: [
        "value", "count", "frequency", "std_error", "low", "high", "p_value", "n", "mechanism", "ratio", "epsilon",
        "level", "notes", "confidence_interval", "at_level", "significant", "consistent", "columns", "to_pandas",
        "to_arrow",
    ],
    JointEstimates: [
        "first", "second", "count", "frequency", "std_error", "low", "high", "p_value", "likeliest", "n", "mechanism",
        "ratio", "epsilon", "level", "notes", "confidence_interval", "at_level", "significant", "marginal",
        "given_first", "independence", "columns", "to_pandas", "to_arrow",
    ],
    Mean: [
        "mean", "std_error", "low", "high", "n", "mechanism", "ratio", "epsilon", "level", "notes",
        "confidence_interval", "at_level", "consistent", "columns", "to_pandas", "to_arrow",
    ],
    Change: [
        "value", "before", "after", "difference", "std_error", "low", "high", "p_value", "any_p_value", "n", "level",
        "notes", "significant", "columns", "to_pandas", "to_arrow",
    ],
    Trend: [
        "value", "periods", "results", "pooled", "estimate", "std_error", "bands", "between", "at_level", "notes",
        "columns", "to_pandas", "to_arrow",
    ],
}  # fmt: skip
# Of another package that is imported only for types.
LATER = {"pd": Any, "pa": Any}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_each_name_is_typed_and_documented(kind: type[Any], name: str) -> None:
    """A field has a type; a property or method says what it gives, in a docstring and in an annotation."""
    member = inspect.getattr_static(kind, name, None)
    function = getattr(member, "fget", None) or getattr(member, "func", None) or member
    if inspect.isfunction(function):
        assert inspect.getdoc(function)
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(
            parameter.annotation is not inspect.Parameter.empty
            for each, parameter in signature.parameters.items()
            if each != "self"
        )
    else:
        assert name in kind.__annotations__


@pytest.mark.parametrize("kind", NAMES)
def test_each_class_is_documented_and_prints(kind: type[Any]) -> None:
    """The class has a docstring of its own, types that resolve, and a way to print itself."""
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{kind.__name__}(")
    assert get_type_hints(kind, localns=LATER)
    assert {"__str__", "__len__"} <= set(vars(kind))
