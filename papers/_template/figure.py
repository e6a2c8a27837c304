"""One or two sentences about the figure: this text appears above it in the report.

A second paragraph says what to look at, and what the paper concludes from it.
"""

from fourhop import Scenario, Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Study, about, above, lines

NAMES = {"newreno": "NewReno", "vegas": "Vegas"}

study = Study(
    "Title of the figure",
    source="which paper, which figure",
    assumed=["What the text leaves open, and the choice made; one line for each."],
)


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, **STEADY)
    return Sweep(base, {"topology.hops": [2, 4, 8], "transport": list(NAMES)})


@study.chart
def goodput(data: Data) -> Chart:
    """The caption: what is drawn, and what the bars are."""
    return lines(data.chain, x="hops", by="transport", labels=NAMES)


@study.check("Vegas is ahead of NewReno at 8 hops", paper="by about 50 %")
def vegas_ahead(data: Data) -> Claim:
    gain = data.chain.goodput(transport="vegas", hops=8) / data.chain.goodput(transport="newreno", hops=8)
    return about(gain, 1.5).or_partly(above(gain, 1.0))
