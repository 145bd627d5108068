"""Frame rates and other fractions, as callers write them."""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any, Tuple, Union

FrameRate = Union[int, float, Fraction, str, Tuple[int, int]]


def rational(value: Any, name: str) -> Fraction:
    """A positive fraction from 25, 29.97, "30000/1001", (30000, 1001) or a Fraction."""
    accepted = f"{name} must be a positive number such as 25, 29.97, '30000/1001' or (30000, 1001), not {value!r}"
    try:
        if isinstance(value, tuple):
            result = Fraction(*value)
        elif isinstance(value, float):
            result = _meant(Fraction(value).limit_denominator(1001))
        elif isinstance(value, (str, numbers.Rational)) and not isinstance(value, bool):
            result = Fraction(value)
            if isinstance(value, str) and "." in value:
                result = _meant(result)
        elif hasattr(value, "__float__") and not isinstance(value, bool):  # NumPy's numbers
            result = _meant(Fraction(float(value)).limit_denominator(1001))
        else:
            raise TypeError(accepted)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(accepted) from error
    if result <= 0 or result.numerator >= 2**31 or result.denominator >= 2**31:
        raise ValueError(accepted)
    return result


def _meant(rate: Fraction) -> Fraction:
    """The rate that a decimal number stands for: 29.97 is 30000/1001, and so are 23.976, 23.98, 59.94 and the like."""
    nominal = round(rate)
    if rate == nominal or (nominal % 12 and nominal % 15) or abs(rate - Fraction(nominal * 1000, 1001)) > Fraction(1, 180):
        return rate
    return Fraction(nominal * 1000, 1001)
