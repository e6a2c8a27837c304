"""A network under load, before and after: the output of programs, and when a difference counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhop.errors import FourhopError
from fourhop.measure import METRICS, Load, Measured, Round, compare, difference, quantile, round_trips, streams

GOODPUT, RTT, JAIN = METRICS

PING = """\
PING 10.0.0.3 (10.0.0.3) 56(84) bytes of data.
64 bytes from 10.0.0.3: icmp_seq=1 ttl=64 time=12.5 ms
64 bytes from 10.0.0.3: icmp_seq=2 ttl=64 time=1034 ms

--- 10.0.0.3 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 402ms
"""


def of(goodputs: list[float], rtts: list[float], hosts: tuple[str, ...] = ("a",)) -> Measured:
    rounds = [Round(bps, rtt, 1.0, 3.0, 0.0, {"a": bps}) for bps, rtt in zip(goodputs, rtts, strict=True)]
    return Measured(Load(list(hosts)), rounds)


def test_what_the_programs_print_is_read() -> None:
    assert round_trips(PING) == ([12.5, 1034.0], 3)
    assert round_trips("") == ([], 0)
    both = {"end": {"streams": [{"receiver": {"bits_per_second": 3}}, {"receiver": {"bits_per_second": 5}}]}}
    assert streams(both) == [3.0, 5.0]
    with pytest.raises(FourhopError, match="unable to connect"):
        streams({"error": "unable to connect to server"})


def test_a_quantile_is_one_of_the_values() -> None:
    assert [quantile(range(1, 101), share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert quantile([7], 0.95) == 7


def test_a_difference_counts_only_if_its_interval_leaves_zero_out() -> None:
    # By hand: variances 1, standard error sqrt(2/3), four degrees of freedom, 2.776.
    found = difference(GOODPUT, [10, 11, 12], [20, 21, 22])
    assert (found.low, found.high) == pytest.approx((10 - 2.2669, 10 + 2.2669), abs=1e-3)
    assert found.verdict == "better"
    assert difference(RTT, [10, 11, 12], [20, 21, 22]).verdict == "worse", "of round trips less is better"
    assert difference(GOODPUT, [10, 11, 12], [10, 12, 13]).verdict == "no difference seen"
    assert difference(JAIN, [1, 1], [1, 1]).verdict == "no difference seen"
    with pytest.raises(FourhopError, match="at least 2"):
        difference(GOODPUT, [10], [20, 21])


def test_a_measurement_is_kept_and_compared_with_one_of_the_same_load(tmp_path: Path) -> None:
    before, after = of([1e6, 1.1e6, 1.05e6], [900, 950, 1000]), of([8e5, 8.1e5, 8.2e5], [90, 95, 99])
    before.save(tmp_path / "before.json")
    again = Measured.read(tmp_path / "before.json")
    assert again == before
    assert [one.verdict for one in compare(again, after)] == ["worse", "better", "no difference seen"]
    assert again.interval(GOODPUT).mean == pytest.approx(1050.0), "in kbit/s"
    with pytest.raises(FourhopError, match="allowed: that of the first measurement"):
        compare(before, of([1e6, 1e6], [1, 1], ("b",)))


@pytest.mark.parametrize("text", ["", "{}", '{"format": 9}', '{"format": 1, "load": {}, "rounds": []}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "before.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FourhopError, match=r"before\.json"):
        Measured.read(file)
