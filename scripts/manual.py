#!/usr/bin/env python3
"""Write the manual page of `fourhop`, packaging/fourhop.1, from the help texts of its commands."""

from __future__ import annotations

import re
from pathlib import Path

import click

from fourhop.cli.commands import COMMANDS, app

PAGE = Path(__file__).resolve().parent.parent / "packaging" / "fourhop.1"

FILES = [
    (
        "scenario files",
        "TOML; `fourhop schema --reference` lists every key, and `fourhop check` lists the errors of one.",
    ),
    ("FOURHOP_EMULATE", "Environment variable: the path of fourhop-emulate, if it is not in one of the usual places."),
]


def roff(text: str) -> str:
    """Escape text so that it contains no roff requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]


def described(command: click.Command) -> list[str]:
    """The lines about one command: its description, then its options."""
    lines = [line for part in paragraphs(command.help or "") for line in (".PP", roff(part))]
    context = click.Context(command)
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        names, text = record
        lines += [".TP", f"\\fB{roff(names)}\\fR", roff(" ".join(text.split())) or "\\&"]
    return lines


def page() -> str:
    """The whole page."""
    lines = [
        '.TH FOURHOP 1 "" fourhop "User commands"',
        ".SH NAME",
        "fourhop \\- simulate and emulate TCP over multihop wireless networks",
        ".SH SYNOPSIS",
        "\\fBfourhop\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...]",
        ".SH DESCRIPTION",
        *(line for part in paragraphs(app.help or "") for line in (".PP", roff(part))),
        ".SH COMMANDS",
    ]
    context = click.Context(app)
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command is not None
        parts = {"": command}
        if isinstance(command, click.Group):
            inner = click.Context(command)
            parts = {part: command.get_command(inner, part) or command for part in command.list_commands(inner)}
        for part, one in parts.items():
            lines += [f".SS fourhop {roff(f'{name} {part}'.strip())}", *described(one)]
    lines.append(".SH FILES AND VARIABLES")
    lines += [line for name, text in FILES for line in (".TP", f"\\fB{roff(name)}\\fR", roff(text))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
