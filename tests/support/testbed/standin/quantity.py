"""Kubernetes quantities such as 16326656Ki, 500m or 1.5e3, as exact numbers."""

import re
from fractions import Fraction

_BINARY = {suffix: Fraction(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_FACTORS = _BINARY | {suffix: Fraction(10) ** power for suffix, power in _DECIMAL.items()}


def parse(text: str | int) -> Fraction:
    match = re.fullmatch(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)", str(text))
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {text!r}")
    return Fraction(match[1]) * _FACTORS[match[2]]
