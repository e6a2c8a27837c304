"""The question a person who runs a mesh has: would another TCP, a pacing gateway or another place for it help?"""

from fourhop.whatif.ask import Answer, ask

__all__ = ["Answer", "ask"]
