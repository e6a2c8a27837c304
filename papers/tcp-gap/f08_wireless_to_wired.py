"""Goodput of one flow from the mesh to a wired host, over chains of one to twelve radio hops.

In the paper NewReno is slightly ahead on fewer than four hops, where there are no hidden nodes, and TCP-GAP from four
hops on, by up to 41 %.
"""

from fourhop.study import Claim, Data, about, above, below, between, every, most

from ._chains import LONG, SHORT, best, check_causes, check_longer, gains, one_flow, over_still

study = one_flow("One flow, wireless to wired", figure=8, direction="up")


@study.check(
    "NewReno is slightly ahead on fewer than four hops",
    paper="slightly higher goodput",
    assumed="slightly: by up to 10 %, on each of 1, 2 and 3 hops; partly: on two of them",
    because=["gains_already", "ahead_without_breaks"],
)
def newreno_ahead_when_short(data: Data) -> Claim:
    claims = between(gains(data, SHORT), 0.9, 1.0)
    return every(claims).or_partly(most(claims, 0.6))


@study.check(
    "TCP-GAP is ahead from four hops on",
    main=True,
    paper="for all h >= 4",
    assumed="4 to 8; partly: on three quarters",
    because="routes_hold",
)
def ahead_when_long(data: Data) -> Claim:
    claims = above(gains(data, LONG), 1.0)
    return every(claims).or_partly(most(claims))


@study.check(
    "TCP-GAP gains up to 41 %",
    main=True,
    paper="up to 41 %",
    assumed="the largest over 4 to 8 hops, within 15 % of the ratio; partly: above 20 %",
    because={"ns2": ["authors_arithmetic", "gain_is_routes"], "standard": "routes_hold"},
)
def gains_41(data: Data) -> Claim:
    return about(best(data), 1.41).or_partly(above(best(data), 1.2))


@study.cause("over 3 hops pacing is already a gain")
def gains_already(data: Data) -> Claim:
    return above(gains(data, SHORT)["3 hops"], 1.0)


@study.cause("over routes that never break NewReno is ahead over 3 hops, too")
def ahead_without_breaks(data: Data) -> Claim:
    return below(over_still(data, SHORT)["3 hops"], 1.0)


check_causes(study, 1.41)


check_longer(study)
