"""wmediumd configurations: the result of each kind, and the errors for others."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import fourhop
from fourhop import wmediumd
from fourhop.cli.commands import app
from fourhop.errors import FourhopError
from tests.conftest import ROOT

IDS = 'ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00"];'
DISTANCE = """
ifaces: {
  %s
  enable_interference = true;
};
model: {
  type = "path_loss";
  positions = ((0.0, 0.0, 0.0), (30.0, 0.0, 0.0), (0.0, 400.0, 0.0));
  fading_coefficient = 2;
  noise_threshold = -95;
  isnodeaps = (0, 1, 0);
  tx_powers = (14, 20, 14);
  model_name = "log_distance";
  path_loss_exp = 3.5;
  xg = 0.0;
};
"""


def made(text: str, **keys: Any) -> tuple[wmediumd.Converted, dict[str, Any]]:
    converted = wmediumd.convert(Path("net.cfg"), text, **keys)
    return converted, tomllib.loads(converted.toml)


def test_links_by_snr_have_wmediumds_signals() -> None:
    text = f"# three\nifaces :\n{{\n  count = 3; /* unused */\n  {IDS}\n"
    text += "  links = ((0, 1, 20), (0, 2, 5), (2, 0, 10)); // the last pair is not listed\n};\n"
    converted, document = made(text)
    assert document["losses"] == [
        {"from": 0, "to": 1, "snr": "20dB"},
        {"from": 0, "to": 2, "snr": "5dB", "both_ways": False},
        {"from": 1, "to": 2, "snr": "30dB"},
        {"from": 2, "to": 0, "snr": "10dB", "both_ways": False},
    ]
    notes = list(map(str, converted.notes))
    assert notes[0] == "assumed: 1 pair without a link: an SNR of 30 dB, as in wmediumd"
    assert all(f"# {note}" in converted.toml for note in notes)
    assert converted.maps == ()
    # kTB of 20 MHz is -100.96 dBm.
    assert document["radio"] == {"model": "sinr", "phy": "erp-ofdm", "noise_figure": "9.96dB"}


def test_the_example_is_one_and_a_scenario_is_none() -> None:
    text = (ROOT / "scenarios" / "community" / "hidden.cfg").read_text(encoding="utf-8")
    assert wmediumd.is_one(text)
    _, document = made(text)
    assert [each["snr"] for each in document["losses"]] == ["25dB", "-20dB", "25dB"]
    assert not wmediumd.is_one((ROOT / "scenarios" / "chain.toml").read_text(encoding="utf-8"))


def test_a_model_by_snr_and_radios_that_hwsim_does_not_number() -> None:
    text = 'ifaces: { ids = ["42:00:00:00:05:00", "02:00:00:00:00:00"]; };\n'
    text += 'model: { type = "snr"; links = ((0, 1, -50)); };'
    converted, document = made(text, radio="11a")
    assert document["losses"] == [{"from": 0, "to": 1, "snr": "-30dB"}]
    assert document["radio"]["phy"] == "ofdm"
    assert converted.maps == ("42:00:00:00:05:00=n0", "02:00:00:00:00:00=n1")


def test_links_by_probability() -> None:
    text = f'ifaces: {{ {IDS} }};\nmodel: {{ type = "prob"; default_prob = 1.0; '
    whole, document = made(text + "links = ((0, 2, 0.0)); };")
    assert [each["snr"] for each in document["losses"]] == ["-30dB", "30dB", "-30dB"]
    assert not any("hold for" in str(note) for note in whole.notes)
    text += "links = ((0, 2, 0.0), (2, 1, 0.25)); };"
    converted, document = made(text)
    assert document["losses"] == [
        {"from": 0, "to": 1, "snr": "-30dB"},
        {"from": 0, "to": 2, "snr": "60dB"},
        {"from": 1, "to": 2, "delivery": "75%", "frame": "1500B", "frame_rate": "6Mbps"},
    ]
    assert document["radio"]["fading"] == "rayleigh"
    assert any("2 loss probabilities apply" in str(note) for note in converted.notes)


def test_positions_as_mininet_wifi_writes_them() -> None:
    converted, document = made(DISTANCE % IDS, overrides=("duration=90s", "radio.exponent=3"))
    assert document["topology"]["positions"] == [["0m", "0m"], ["30m", "0m"], ["0m", "400m"]]
    assert document["nodes"] == [{"node": 1, "tx_power": "20dBm"}]
    # Free space over a metre at 2412 MHz.
    assert document["radio"] == {
        "model": "sinr", "phy": "erp-ofdm", "noise_figure": "5.96dB", "frequency": "2412MHz", "tx_power": "14dBm",
        "path_loss": "log-distance", "exponent": 3, "reference_distance": "1m", "reference_loss": "40.10dB",
    }  # fmt: skip
    assert document["duration"] == "90s"
    assert "losses" not in document
    assert [note.kind for note in converted.notes] == ["left out", "assumed"]
    scenario = fourhop.Scenario(converted.toml, "net.toml")
    assert scenario.resolved["radio"]["noise_figure"] == "5.96dB"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("14, 20, 14", "14, 20", "net.cfg:12: model.tx_powers: found 2 values, allowed: 3 powers in dBm"),
        ("-95", '"-95"', "net.cfg:10: model.noise_threshold: found '-95', allowed: a number from -100 to -30"),
        ('"log_distance"', '"itu"', "net.cfg:13: model.model_name: found 'itu', allowed: \"log_distance\", "),
        ("(30.0, 0.0, 0.0)", "(30.0)", "net.cfg:8: model.positions[1]: found 1 value, allowed: two lengths in metres"),
        ("path_loss_exp = 3.5;", "", "net.cfg:6: model.path_loss_exp: found nothing, allowed: the exponent"),
        ('"path_loss"', '"magic"', "net.cfg:7: model.type: found 'magic', allowed: \"snr\", \"prob\" or \"path_loss\""),
        ("01:00", "0100", "net.cfg:3: ifaces.ids[1]: found '02:00:00:00:0100', allowed: the address of a radio"),
        ("01:00", "00:00", "net.cfg:3: ifaces.ids[1]: found '02:00:00:00:00:00', allowed: each address once"),
        ("model_name", "medium_array = (1); model_name", ""),
        ("xg = 0.0", "type = 1", "net.cfg:15: model.type: found type, allowed: each name once"),
        ("xg = 0.0", "xg 0.0", "net.cfg:15: model.xg: found 0.0, allowed: : or ="),
        ("xg = 0.0", "xg = maybe", "net.cfg:15: model.xg: found maybe, allowed: a value: "),
        ("xg = 0.0;\n};", "xg = 0.0;\n", "net.cfg:17: model: found the end of the file, allowed: a name, or }"),
        ("path_loss_exp = 3.5", "path_loss_exp = %", "net.cfg:14: found '%', allowed: settings: name = value;"),
        ("enable_interference = true", "medium_array = (0, 1, 0)", "net.cfg:4: ifaces.medium_array: found 3 values, "),
    ],
)  # fmt: skip
def test_errors_name_file_and_key(old: str, new: str, error: str) -> None:
    text = DISTANCE % IDS
    assert old in text
    if not error:
        made(text.replace(old, new))
        return
    with pytest.raises(FourhopError) as refused:
        made(text.replace(old, new))
    assert str(refused.value).startswith(error), str(refused.value)


def test_links_that_cannot_be() -> None:
    for link, error in (
        ("(0, 3, 20)", "ifaces.links[0][1]: found 3, allowed: a whole number from 0 to 2"),
        ("(0, 0, 20)", "ifaces.links[0][1]: found 0, allowed: a radio other than the first"),
        ("(0, 1)", "ifaces.links[0]: found 2 values, allowed: (from, to, SNR in dB)"),
        ("[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]", "allowed: at most 20 groups and lists"),
    ):
        with pytest.raises(FourhopError) as refused:
            made(f"ifaces: {{ {IDS} links = ({link}); }};")
        assert error in str(refused.value)


def test_the_command_writes_the_scenario_and_says_what_is_next(tmp_path: Path) -> None:
    file, target = tmp_path / "net.cfg", tmp_path / "net.toml"
    file.write_text(f"ifaces: {{ {IDS} }};", encoding="utf-8")
    run = CliRunner().invoke(app, ["import", str(file), "--out", str(target)])
    assert run.exit_code == 0, run.output
    assert f"3 radios\nscenario: {target}\nnext: fourhop medium {target}\n" in run.output
    assert len(tomllib.loads(target.read_text(encoding="utf-8"))["losses"]) == 3
    run = CliRunner().invoke(app, ["import", str(file), "--out", str(target), "--json"])
    assert [radio["node"] for radio in json.loads(run.output)["radios"]] == ["n0", "n1", "n2"]
    run = CliRunner().invoke(app, ["import", str(file), "--near", "n0"])
    assert run.exit_code == 2
    assert "found --near with a configuration of wmediumd, allowed: that file with --out, --radio" in run.output


@pytest.mark.parametrize("words", [["net.cfg"], ["-c", "net.cfg"]])
def test_the_medium_takes_a_configuration_as_it_is(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"ifaces: {{ {IDS.replace('01:00', '07:00')} }};"
    Path("net.cfg").write_text(text, encoding="utf-8")
    became: list[str] = []

    def become(*words: str, name: str) -> None:
        # The program opens the path only after it has replaced this process; the file exists under this name.
        scenario = Path(words[1]).read_text(encoding="utf-8")
        assert scenario == wmediumd.convert(Path("net.cfg"), text).toml
        became.extend((name, *words[2:]))

    monkeypatch.setattr("fourhop.cli.medium.become", become)
    run = CliRunner().invoke(app, ["medium", *words, "--for", "5s"])
    assert run.exit_code == 0, run.output
    maps = [f"--map=02:00:00:00:{address}:00=n{n}" for n, address in enumerate(("00", "07", "02"))]
    assert became == ["fourhop-medium", *maps, "--for=5s"]
    assert "assumed:" in run.output
    assert not list(tmp_path.glob("*.toml"))


@pytest.mark.parametrize(("words", "found"), [([], "none"), (["a.toml", "-c", "net.cfg"], "two")])
def test_the_medium_takes_one_network(words: list[str], found: str) -> None:
    run = CliRunner().invoke(app, ["medium", *words])
    assert run.exit_code == 2
    assert f"FILE: found {found}, allowed: one scenario or configuration of wmediumd" in run.output
