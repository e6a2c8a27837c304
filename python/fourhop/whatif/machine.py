"""An answer in machine-readable form."""

from __future__ import annotations

from typing import Any

from fourhop._core import version
from fourhop.whatif.answer import Answer, cells, finite
from fourhop.whatif.tries import TODAY
from fourhop.whatif.words import headline, sentences, today, verdict


def to_dict(answer: Answer) -> dict[str, Any]:
    """All measurements and sentences, for JSON."""
    flows = cells(answer.results, TODAY)
    return {
        "scenario": answer.scenario.name,
        "fourhop": version(),
        "seeds": answer.seeds,
        "duration_s": answer.scenario.duration_s,
        "nodes": len(answer.tried.network.places),
        "links": len(answer.tried.network.pairs),
        "gateways": answer.tried.network.gateways,
        "groups": [{"name": g.name, "flows": list(g.flows), "hops": g.hops} for g in answer.groups],
        "words": headline(answer),
        "today": {
            "what": answer.tried.today.what,
            "words": today(answer),
            "measures": {
                each.name: {"mean": finite(answer.today(each).mean), "unit": each.unit,
                            "half_width": answer.today(each).interval.half_width}
                for each in answer.measures
            },
            "first_run": {name: row["goodput_bps"] for name, row in flows.runs[0].flows.items()},
        },
        "changes": [
            {
                "name": each.name,
                "label": each.label,
                "what": each.what,
                "verdict": verdict(answer.effects[each.name]),
                "words": sentences(answer, each),
                "effects": [effect.to_dict() for effect in answer.effects[each.name]],
            }
            for each in answer.ranked
        ],
        "networks": len(answer.results) if answer.worlds.several else 1,
        "law": vars(answer.worlds.law),
        "otherwise": [{"label": each.label, **each.effect.to_dict()} for each in answer.otherwise],
        "left_out": [{"label": label, "why": why} for label, why in answer.tried.left_out],
    }  # fmt: skip
