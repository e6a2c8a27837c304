"""Converts configurations of wmediumd into scenarios for `fourhop medium`."""

from fourhop.wmediumd.convert import Converted, convert, is_one, text_of

__all__ = ["Converted", "convert", "is_one", "text_of"]
