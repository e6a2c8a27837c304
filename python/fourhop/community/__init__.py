"""Networks as published by communities, and the scenarios that `fourhop import` makes from them."""

from fourhop.community.network import Link, Network, Node, Note
from fourhop.community.options import Options
from fourhop.community.read import read
from fourhop.community.scenario import Imported, to_scenario

__all__ = ["Imported", "Link", "Network", "Node", "Note", "Options", "read", "to_scenario"]
