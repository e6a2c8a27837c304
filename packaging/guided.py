"""Build the extension module with a recorded profile, from which the compiler knows how often each branch is taken.

    python packaging/guided.py MODULE -- COMMAND...
    python packaging/guided.py --record FOLDER -- COMMAND...
    python packaging/guided.py --keep MODULE FOLDER LLVM_PROFDATA

The first runs COMMAND, which builds MODULE (.so or .whl), with the profile. The second runs COMMAND so that the module
counts its branches and writes the counts into FOLDER. The third makes the counts in FOLDER the profile of the sources.
This file is also the build backend of pyproject.toml (PEP 517): it calls maturin.

The profile is part of the sources: crates/py/guide, written by `make profile`. It names functions by their mangled
names. These contain a hash of the crate, which cargo makes from everything that could make two builds differ: versions
of packages, features, build profile, target. A wrapper around the compiler gives each crate of the workspace a fixed
hash instead, so that only the compiler and the crate's name are left in it. The compiler silently ignores counts of
unknown functions, and compiles a function without counts if it was edited since the recording. To detect a profile
that fits nothing, the module has a number that depends on the same things as the names (`fourhop._core.names`): it
must be that of the module that was recorded.

With `FOURHOP_GUIDED=no`, another compiler, another target, or settings of cargo's build profile in the environment,
the module is built without the profile, and a message says so. Needs only Python's standard library.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, MutableMapping
from glob import glob
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "crates" / "py" / "guide"
PROFILE = GUIDE / "engine.profdata.gz"
ABOUT = GUIDE / "engine.json"
MODULE = "fourhop/_core.abi3.so"
# Functions whose branches were all taken less often during the training of `make profile` are left out: two thirds.
OFTEN = 1000

# Cargo calls this for crates of the workspace, with the compiler and its arguments.
WRAPPER = """#!/bin/sh
for word; do
  shift
  case $word in metadata=*) word=metadata=fourhop ;; esac
  set -- "$@" "$word"
done
exec "$@"
"""

# Loads a module by its file and prints its number, in a separate process so that the module does not stay loaded.
ASK = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("fourhop._core", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
print(module.names())
"""


class UnguidedError(Exception):
    """The reason why a build does not use the profile."""


def say(text: str) -> None:
    """Print a message for readers of the build's output."""
    print(f"guided: {text}", file=sys.stderr)


def compiler(environment: Mapping[str, str]) -> tuple[str, str]:
    """Version and target of the compiler that cargo would call in the source folder."""
    rustc = environment.get("RUSTC", "rustc")
    try:
        found = subprocess.run(
            [rustc, "-vV"], cwd=ROOT, env=dict(environment), check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise UnguidedError(f"`{rustc} -vV` does not describe the compiler: {error}") from error
    lines = found.stdout.splitlines()
    host = next((line.removeprefix("host: ") for line in lines if line.startswith("host: ")), "")
    return lines[0], host


def about() -> dict[str, str]:
    """The circumstances of the profile's recording."""
    try:
        recorded: dict[str, str] = json.loads(ABOUT.read_text())
    except FileNotFoundError as error:
        raise UnguidedError(f"the sources have no {ABOUT.relative_to(ROOT)}") from error
    return recorded


def unpacked() -> Path:
    """The profile as the compiler reads it. Its name is a hash of its content, so that cargo notices changes."""
    content = gzip.decompress(PROFILE.read_bytes())
    path = ROOT / "target" / "guide" / f"{hashlib.sha256(content).hexdigest()[:16]}.profdata"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(path)
    return path


def refuse_other_names(environment: Mapping[str, str]) -> None:
    """Raises `UnguidedError` for settings that request another build or would change the names of functions."""
    names = [name for name in environment if name.startswith("CARGO_PROFILE_RELEASE_")]
    if environment.get("CARGO_INCREMENTAL", "0") != "0":
        names.append("CARGO_INCREMENTAL")
    if names:
        raise UnguidedError(f"{' and '.join(sorted(names))} in the environment: this is not the build of a release")
    if "RUSTC_WORKSPACE_WRAPPER" in environment:
        raise UnguidedError("RUSTC_WORKSPACE_WRAPPER is set, but a guided build needs its own, which names functions")
    for name in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"):
        for word in ("profile-use", "profile-generate", "symbol-mangling-version", "instrument-coverage"):
            if word in environment.get(name, ""):
                raise UnguidedError(f"{name} has {word}")


def flagged(environment: MutableMapping[str, str], target: str, flags: list[str]) -> None:
    """Makes cargo compile for `target` with `flags` in addition to the user's."""
    environment["CARGO_BUILD_TARGET"] = target
    wrapper = ROOT / "target" / "guide" / "rustc"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    part = wrapper.with_suffix(f".{os.getpid()}")
    part.write_text(WRAPPER)
    part.chmod(0o755)
    part.replace(wrapper)
    environment["RUSTC_WORKSPACE_WRAPPER"] = str(wrapper)
    own = f"CARGO_TARGET_{target.upper().replace('-', '_')}_RUSTFLAGS"
    # Cargo uses the first of these that is set, and adds flags of its configuration files only to the last one.
    if "CARGO_ENCODED_RUSTFLAGS" in environment:
        before = environment["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
    elif "RUSTFLAGS" in environment:
        before = environment["RUSTFLAGS"].split()
    elif any(" " in flag for flag in flags):
        before = environment.get(own, "").split()
    else:
        environment[own] = " ".join([*environment.get(own, "").split(), *flags])
        return
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join([*filter(None, before), *flags])


def guide(environment: MutableMapping[str, str]) -> None:
    """Sets the environment of a guided build; raises `UnguidedError`."""
    if environment.get("FOURHOP_GUIDED") == "no":
        raise UnguidedError("FOURHOP_GUIDED=no")
    recorded = about()
    refuse_other_names(environment)
    version, host = compiler(environment)
    if (version, host) != (recorded["rustc"], recorded["target"]):
        raise UnguidedError(
            f"the profile is from {recorded['rustc']} for {recorded['target']}, this is {version} for {host}"
        )
    if environment.get("CARGO_BUILD_TARGET", host) != host:
        raise UnguidedError(f"the profile is for {host}, CARGO_BUILD_TARGET is {environment['CARGO_BUILD_TARGET']}")
    # A function edited since is compiled without its counts. We want that, so no warning for each.
    flagged(environment, host, [f"-Cprofile-use={unpacked()}", "-Cllvm-args=-no-pgo-warn-mismatch"])


def names_of(module: Path) -> str:
    """The number of a module, or of the module in a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        if module.suffix == ".whl":
            with zipfile.ZipFile(module) as wheel:
                module = Path(wheel.extract(MODULE, folder))
        asked = subprocess.run([sys.executable, "-c", ASK, str(module)], capture_output=True, text=True)
    if asked.returncode != 0:
        return f"unknown ({asked.stderr.strip().splitlines()[-1:]})"
    return asked.stdout.strip()


def misfit(module: Path) -> str | None:
    """Why the profile was of no use to the module; `None` if it fits."""
    found, recorded = names_of(module), about()["names"]
    if found == recorded:
        return None
    return (
        f"the profile does not fit: names of functions found {found}, recorded {recorded}. "
        "`make profile` records it again, FOURHOP_GUIDED=no builds without it."
    )


def run(module: str, command: list[str]) -> int:
    """Runs a command that builds `module`, guided if possible; a profile that does not fit is an error."""
    environment = dict(os.environ)
    try:
        guide(environment)
    except UnguidedError as why:
        say(f"NOT GUIDED BY A PROFILE: {why}")
        return subprocess.run(command).returncode
    status = subprocess.run(command, env=environment).returncode
    built = Path(next(iter(glob(module)), module))  # noqa: PTH207 - it may be absolute
    if status == 0 and (problem := misfit(built)):
        say(problem)
        return 1
    return status


def record(folder: Path, command: list[str]) -> int:
    """Runs a command that builds the module, with counters."""
    environment = dict(os.environ)
    try:
        refuse_other_names(environment)
        _, host = compiler(environment)
    except UnguidedError as why:
        say(f"no profile can be recorded: {why}")
        return 1
    flagged(environment, host, [f"-Cprofile-generate={folder.resolve()}"])
    return subprocess.run(command, env=environment).returncode


def often(text: str) -> str:
    """A profile as text, reduced to the functions that matter: those with a branch taken `OFTEN` times."""
    head, functions = text.split(":ir\n", 1)
    kept = []
    for function in filter(str.strip, functions.split("\n\n")):
        # Name, "# Func Hash:", hash, "# Num Counters:", how many, "# Counter Values:", the counters, and more.
        lines = function.strip("\n").split("\n")
        if max(map(int, lines[6 : 6 + int(lines[4])])) >= OFTEN:
            kept.append(function)
    return head + ":ir\n" + "\n\n".join(kept) + "\n"


def keep(module: Path, folder: Path, reader: str) -> None:
    """Makes the profile from the counts of `module` in `folder`. `reader` is llvm-profdata of the compiler's LLVM."""
    version, host = compiler(os.environ)
    GUIDE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        text, profile = Path(scratch) / "text", Path(scratch) / "profile"
        subprocess.run([reader, "merge", "--sparse", "--text", "--output", text, folder], check=True)
        text.write_text(often(text.read_text()))
        subprocess.run([reader, "merge", "--sparse", "--output", profile, text], check=True)
        PROFILE.write_bytes(gzip.compress(profile.read_bytes(), mtime=0))
    ABOUT.write_text(json.dumps({"rustc": version, "target": host, "names": names_of(module)}, indent=1) + "\n")
    say(f"{PROFILE.relative_to(ROOT)}: {PROFILE.stat().st_size:,} bytes")


# The build backend. A profile that does not fit is a warning here, not an error: the module is correct, and a user who
# installs the package cannot record another profile.


def _built(build: Any, folder: str, settings: Any, metadata: Any) -> str:
    before = dict(os.environ)
    guided = True
    try:
        guide(os.environ)
    except UnguidedError as why:
        say(f"NOT GUIDED BY A PROFILE: {why}")
        guided = False
    try:
        name: str = build(folder, settings, metadata)
    finally:
        os.environ.clear()
        os.environ.update(before)
    if guided and "editable" not in build.__name__ and (problem := misfit(Path(folder) / name)):
        say(f"NOT GUIDED BY A PROFILE: {problem}")
    return name


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """As maturin does, guided."""
    import maturin  # type: ignore[import-untyped]

    return _built(maturin.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """As maturin does, guided."""
    import maturin

    return _built(maturin.build_editable, wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """As maturin does."""
    import maturin

    name: str = maturin.build_sdist(sdist_directory, config_settings)
    return name


def __getattr__(name: str) -> Any:
    # The hooks that only query: get_requires_for_build_*, prepare_metadata_for_build_*.
    if name.startswith(("get_requires_for_", "prepare_metadata_for_")):
        import maturin

        return getattr(maturin, name)
    raise AttributeError(name)


def main(words: list[str]) -> int:
    """The command."""
    match words:
        case ["--record", folder, "--", *command]:
            shutil.rmtree(folder, ignore_errors=True)
            return record(Path(folder), command)
        case ["--keep", module, folder, reader]:
            keep(Path(module), Path(folder), reader)
            return 0
        case [module, "--", *command]:
            return run(module, command)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
