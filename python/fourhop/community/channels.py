"""Channels of nodes, if files name them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fourhop.community.network import Link, Network, Note
from fourhop.text import count


def on_channels(network: Network) -> Network:
    """If some channels are known, give every node a channel, and keep only links between nodes that share one."""
    known = [channel for node in network.nodes.values() for channel in node.channels]
    if len(set(known)) < 2:
        return network
    usual = max(dict.fromkeys(known), key=known.count)
    lacking = [id_ for id_, node in network.nodes.items() if not node.channels]
    nodes = {id_: replace(node, channels=node.channels or (usual,)) for id_, node in network.nodes.items()}

    def shared(link: Link) -> bool:
        return link.medium != "radio" or bool(set(nodes[link.source].channels) & set(nodes[link.target].channels))

    links = tuple(link for link in network.links if shared(link))
    notes = list(network.notes)
    if lacking:
        text = f"channels of {count(len(lacking), 'node')}; {usual}, the most common, is assumed"
        notes.append(Note("missing", text, network.named(lacking)))
    if len(links) < len(network.links):
        notes.append(
            Note("left out", f"{count(len(network.links) - len(links), 'link')} between nodes on different channels")
        )
    return replace(network, nodes=nodes, links=links, notes=tuple(notes))


def channel_plan(network: Network) -> list[dict[str, Any]]:
    """The channel plan; empty if all nodes share a channel."""
    channels = sorted({channel for node in network.nodes.values() for channel in node.channels})
    if len(channels) < 2:
        return []
    listed = list(network.nodes.values())
    return [
        {"channel": channel, "nodes": [n for n, node in enumerate(listed) if channel in node.channels]}
        for channel in channels
    ]
