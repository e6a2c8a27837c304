#!/usr/bin/env python3
"""Numbers in documents that come from full reproductions, which take too long for a test.

    scripts/measured.py keep [REPORT]   keep what the report in REPORT (`report`) measured: papers/measured.json, and
                                        what it found in other worlds: papers/worlds.json
    scripts/measured.py costs REPORT MINUTES
                                        keep only what its sweeps cost, if a reproduction without --full took MINUTES
                                        of processor time; `reproduce` estimates the time left by it
    scripts/measured.py fill            write it into the documents
    scripts/measured.py check           fail if a document says otherwise, or if quick runs have changed since a figure
                                        was judged in other worlds
    scripts/measured.py pin [REPORT] [FIGURE ...]
                                        keep what quick runs (`report-quick`) of these figures, or of all, give on the
                                        code that measured them
    scripts/measured.py stale [REPORT]  fail if quick runs give anything else: the figure has to be measured again

A document marks a number by comments, which readers do not see, and gets it from a check or a cause of a study:

    gains <!-- c3tcp/f07_throughput ns2 gains_27 -->-3.1 [-4, -2.2] %<!-- / -->

The mark names figure, profile and check, and, if not the whole measurement is wanted, one of `value`, `low`, `high`,
`verdict`: `... gains_27 value` is -3.1 %. Between such a mark and `<!-- / -->` stand

    <!-- verdicts c3tcp -->    a table of all verdicts of a paper
    <!-- counts c3tcp ns2 -->  how many there are of each in one profile
    <!-- worlds c3tcp -->      how many there are of each in every world, and the figures that were not judged there
    <!-- elsewhere c3tcp -->   the statements that ns-2.35 does not reproduce, but another world does
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / "papers"

MARK = re.compile(
    r"(<!-- (?:[\w-]+/[\w-]+ \w+ \w+(?: \w+)?|(?:verdicts|worlds|elsewhere) [\w-]+|counts [\w-]+ \w+) -->)"
    r"(.*?)(<!-- / -->)",
    re.S,
)

PROFILES = ("ns2", "standard")


def documents() -> list[Path]:
    """All documents that may quote a study."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def filled(text: str, kept: dict[str, Any], judged: dict[str, Any]) -> str:
    """A document filled with measurements and outcomes `judged` in worlds. Raises `KeyError` for an unknown name."""

    def fill(found: re.Match[str]) -> str:
        words = found[1][5:-4].split()
        match words:
            case ["verdicts", paper]:
                inside = f"\n{verdicts(paper, kept)}\n"
            case ["worlds", paper]:
                inside = f"\n{in_worlds(of_paper_in_worlds(paper, judged), of_paper(paper, kept))}\n"
            case ["elsewhere", paper]:
                inside = f"\n{elsewhere(of_paper_in_worlds(paper, judged))}\n"
            case ["counts", paper, profile]:
                inside = counts(paper, profile, kept)
            case _:
                inside = number(words, kept)
        return found[1] + inside + found[3]

    return MARK.sub(fill, text)


def number(words: list[str], kept: dict[str, Any]) -> str:
    """The value of one mark."""
    from fourhop.study.estimate import number as digits

    figure, profile, name, *part = words
    of = kept[figure]["profiles"][profile]
    it = (of["checks"] | of["causes"])[name]
    if not part:
        return str(it["measured"])
    if part[0] == "verdict":
        return str(it["verdict"])
    # A gain is stored as a ratio and written in per cent.
    if "%" in it["measured"] and not it.get("unit"):
        return f"{100.0 * (it[part[0]] - 1.0):+.0f} %"
    return f"{digits(it[part[0]])} {it.get('unit', '')}".strip()


def of_paper(paper: str, kept: dict[str, Any]) -> dict[str, Any]:
    """Measurements of each figure of a paper. Raises `KeyError` for a paper without kept results."""
    figures = {name: each["profiles"] for name, each in kept.items() if name.split("/")[0] == paper}
    if not figures:
        raise KeyError(paper)
    return figures


def verdicts(paper: str, kept: dict[str, Any]) -> str:
    """A table with the outcome of every statement of a paper, and the causes that an experiment shows."""
    figures = of_paper(paper, kept)
    profiles = [name for name in PROFILES if any(name in each for each in figures.values())]
    rows = [["figure", "statement", "the paper", *(f"`{name}`" for name in profiles)], ["---"] * (3 + len(profiles))]
    for figure, each in figures.items():
        first = next(iter(each.values()))["checks"]
        for name, check in first.items():
            outcomes = [outcome(each[profile], name) if profile in each else "" for profile in profiles]
            rows.append([figure.split("/")[1], check["statement"], check["paper"], *outcomes])
    return markdown(rows)


def outcome(of: dict[str, Any], name: str) -> str:
    """The outcome of one statement: verdict, measurement, and the reason if it is not fully reproduced."""
    from fourhop.study.execute import is_unexplained

    check = of["checks"][name]
    said = f"**{check['verdict']}**: {check['measured']}"
    because = [of["causes"][cause]["statement"] for cause in check.get("because", ())]
    if because:
        return f"{said}; because {'; '.join(because)}"
    if check["verdict"] == "partly" and check.get("undecided"):
        return f"{said}; more runs might decide the full statement"
    return f"{said}; the cause is unknown" if is_unexplained(check) else said


def counts(paper: str, profile: str, kept: dict[str, Any]) -> str:
    """Number of a paper's statements, without our own, by outcome, and of those without a known cause."""
    from fourhop.study import OUR_OWN
    from fourhop.study.execute import is_unexplained

    outcomes = [
        check
        for each in of_paper(paper, kept).values()
        for check in each.get(profile, {"checks": {}})["checks"].values()
        if check["paper"] != OUR_OWN
    ]
    found = Counter(check["verdict"] for check in outcomes)
    unknown = sum(map(is_unexplained, outcomes))
    return (
        f"{found['reproduced']} of {len(outcomes)} reproduced, {found['partly']} partly, "
        f"{found['not reproduced']} not ({unknown} without a known cause)"
    )


def of_paper_in_worlds(paper: str, judged: dict[str, Any]) -> list[dict[str, Any]]:
    """Records of a paper's figures. Raises `KeyError` for a paper that was judged in no world."""
    records = [each for each in judged.values() if each["paper"] == paper]
    if not records:
        raise KeyError(paper)
    return records


def in_worlds(records: list[dict[str, Any]], kept: dict[str, Any]) -> str:
    """A table of the number of statements that hold in each world; the name of the best is bold."""
    from fourhop.study import OUR_OWN, worlds

    (of,) = worlds.summary(records).values()
    rows = [["world", "figures", "reproduced", "partly", "not reproduced"], ["---", *["---:"] * 4]]
    for name, each in of["worlds"].items():
        if each["figures"]:
            label = each["label"] or "ns-2.35 as it is"
            counted = [str(each[key]) for key in ("figures", "reproduced", "partly", "not reproduced")]
            rows.append([f"**{label}**" if name in of["most"] else label, *counted])
    missing = [
        f"`{figure.split('/')[1]}`"
        for figure, profiles in kept.items()
        if figure.split("/")[1] not in of["figures"]
        and any(check["paper"] != OUR_OWN for check in profiles.get("ns2", {"checks": {}})["checks"].values())
    ]
    statements = next(iter(of["worlds"].values()))["statements"]
    said = f"{statements} statements in {len(of['figures'])} figures"
    left = f"; not judged yet: {', '.join(missing)}" if missing else ""
    return f"{said}{left}.\n\n{markdown(rows)}"


def elsewhere(records: list[dict[str, Any]]) -> str:
    """A table of the statements that another world reproduces but the first does not, or `None.`"""
    from fourhop.study import worlds

    rows = [["figure", "statement", "ns-2.35 as it is", "reproduced with"], ["---"] * 4]
    for figure, first, others in worlds.elsewhere(records):
        with_ = "; ".join(f"{label}: {it['measured']}" for label, it in others)
        rows.append([figure, first["statement"], f"{first['verdict']}: {first['measured']}", with_])
    return markdown(rows) if len(rows) > 2 else "None."


def markdown(rows: list[list[str]]) -> str:
    """Lines of a table."""
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def outdated(found: dict[str, str], kept: dict[str, Any], judged: dict[str, Any]) -> list[str]:
    """Return one line per figure that must be measured again, with the reason and the command."""
    lines = []
    for figure, fingerprint in found.items():
        known = kept.get(figure, {})
        if known.get("quick") == fingerprint:
            continue
        if "quick" in known:
            why = f"its quick runs differ from those of commit {known['commit']}, which measured it"
        else:
            why = "no results of its quick runs are kept" if known else "it was never measured"
        lines.append(
            f"{figure}: {why}; run `fourhop reproduce {figure} --full`, "
            f"{f'`fourhop reproduce {figure} --world all`, ' if figure in judged else ''}"
            "`scripts/measured.py keep` and `fill`, "
            f"then `fourhop reproduce {figure} --quick` and `scripts/measured.py pin report-quick {figure}`"
        )
    return lines


def write(kept: dict[str, Any], name: str) -> None:
    """Write kept results into their file."""
    text = json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False)
    (PAPERS / name).write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the action named by the first argument."""
    from fourhop.study import measured, worlds

    kept = measured.load(PAPERS)
    judged = measured.load(PAPERS, worlds.KEPT)
    match arguments:
        case ["keep", *report] if len(report) <= 1:
            out = Path(report[0]) if report else ROOT / "report"
            kept |= measured.extract(out)
            judged = worlds.keep(worlds.extract(out), judged)
            worlds.pin(judged, kept)
            write(kept, measured.FILE)
            write(judged, worlds.KEPT)
        case ["costs", report, minutes]:
            measured.take_costs(Path(report), kept, 60.0 * float(minutes))
            write(kept, measured.FILE)
        case ["pin", *rest]:
            report, *figures = rest or [ROOT / "report-quick"]
            found = measured.fingerprints(Path(report))
            for figure in figures or found:
                if figure not in found:
                    print(f"{figure}: no quick runs in {report}; run `fourhop reproduce --quick`", file=sys.stderr)
                    return 1
                if figure not in kept:
                    print(f"{figure}: never measured; run it in full, then `scripts/measured.py keep`", file=sys.stderr)
                    return 1
                kept[figure]["quick"] = found[figure]
            worlds.pin(judged, kept)
            write(kept, measured.FILE)
            write(judged, worlds.KEPT)
        case ["stale", *report] if len(report) <= 1:
            found = measured.fingerprints(Path(report[0]) if report else ROOT / "report-quick")
            changed = outdated(found, kept, judged)
            for line in changed:
                print(line, file=sys.stderr)
            return 1 if changed else 0
        case ["fill" | "check" as what]:
            stale = []
            for path in documents():
                text = path.read_text(encoding="utf-8")
                try:
                    should = filled(text, kept, judged)
                except KeyError as error:
                    print(f"{path.name}: found no measurement of that name: {error}", file=sys.stderr)
                    return 1
                if should != text:
                    stale.append(path.name)
                    if what == "fill":
                        path.write_text(should, encoding="utf-8")
            if what == "fill":
                return 0
            if stale:
                names = ", ".join(stale)
                print(f"{names}: differs from what was measured; run `scripts/measured.py fill`", file=sys.stderr)
            again = worlds.outdated(judged, kept)
            for figure in again:
                print(
                    f"{figure}: its quick runs have changed since it was judged in other worlds; run "
                    f"`fourhop reproduce {figure} --world all`, `scripts/measured.py keep` and `fill`",
                    file=sys.stderr,
                )
            return 1 if stale or again else 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    from fourhop.errors import FourhopError

    try:
        raise SystemExit(main(sys.argv[1:]))
    except FourhopError as error:
        raise SystemExit(f"measured.py: {error}") from None
