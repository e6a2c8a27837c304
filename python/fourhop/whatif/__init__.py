"""Answers a mesh operator's question: would another TCP, a pacing gateway or another place for it help?"""

from fourhop.whatif.answer import Answer
from fourhop.whatif.ask import ask
from fourhop.whatif.machine import to_dict

__all__ = ["Answer", "ask", "to_dict"]
