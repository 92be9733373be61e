"""A user's path: a wheel in a separate environment, and commands from a capture to advice."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from commands import ROOT

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo"),
    # The installation compiles, on all processors.
    pytest.mark.alone,
]

GUIDE = (ROOT / "docs/guide/advice.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Returns the programs of an environment into which a wheel was installed without an index.

    The dependencies are those of the environment of the tests.
    """
    folder = tmp_path_factory.mktemp("installed")
    # The core in the environment of the tests was built with this profile, so that little must be
    # compiled.
    profile = "dev" if (ROOT / ".venv/.core-dev").exists() else "quick"
    make = ["make", "wheel", f"PROFILE={profile}", f"OUT={folder}"]
    built = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = (folder / "wheels").glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-index", "--no-deps", wheel], check=True)
    site = next((folder / "venv/lib").glob("python3*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "venv/bin"


def run(environment: Path, line: str, folder: Path) -> str:
    path = f"{environment}{os.pathsep}{os.environ['PATH']}"
    # The package `acklab` in the folder of the tests must not be found.
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
    done = subprocess.run(["sh", "-ec", line], cwd=folder, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


def test_the_guide_leads_from_pip_install_to_advice(environment, tmp_path):
    home = run(environment, "python -c 'import acklab; print(acklab.__file__)'", tmp_path)
    assert home.startswith(str(environment.parent)), "the wheel is what runs"
    block = re.search(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    path = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert block is not None
    assert path is not None
    steps = [line.split(" #")[0].strip() for line in block.group(1).splitlines()]
    assert [shlex.split(step)[0] for step in steps] == ["pip", "tcpdump", "acklab", "acklab", "acklab"]
    # A simulated path replaces the link, and its capture replaces the output of tcpdump.
    (tmp_path / "path.toml").write_text(path.group(1), encoding="utf-8")
    run(environment, "acklab run path.toml", tmp_path)
    (tmp_path / "download.pcapng").rename(tmp_path / "both.pcap")
    told = [run(environment, step, tmp_path) for step in steps[2:4]]
    advice = run(environment, f"{steps[4]} --use latency --time 5", tmp_path)
    assert "rate of the bottleneck" in told[0]
    assert "link.path.forward.rate" in (tmp_path / "link.toml").read_text(encoding="utf-8")
    # Plain queues of 28 and 150 ms fill in both directions, so that CAKE must be found.
    assert "Latency under load" in advice
    assert "nothing to recommend" not in advice
    assert "tc qdisc replace" in advice
    study = run(environment, "python -c 'from acklab.studies import find; print(find(\"parity\").folder)'", tmp_path)
    assert study.startswith(str(environment.parent)), "the studies are in the wheel"
