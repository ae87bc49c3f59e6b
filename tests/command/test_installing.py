"""Installed, used, installed again from a checkout, and gone: in an environment of its own, without
a network.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import venv

import pytest
from folders import ROOT

pytestmark = pytest.mark.slow
USE = "import river_budget as rb; rb.StandardScaler().learn_one({'a': 1.0}); print(rb.__file__)"


class Environment:
    """A virtual environment that borrows the packages of this one, but not river_budget."""

    def __init__(self, folder):
        venv.create(folder / "venv")
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.python, self.folder = str(folder / "venv" / scripts / "python"), folder
        borrowed = folder / "borrowed"
        borrowed.mkdir()
        for name in ("numpy", "hatchling", "pip"):
            for path in pathlib.Path(importlib.util.find_spec(name).origin).parents[1].iterdir():
                kept = path.name.startswith(("river_budget", "__editable__", "__pycache__"))
                if not (kept or path.suffix == ".pth" or (borrowed / path.name).exists()):
                    (borrowed / path.name).symlink_to(path)
        (site,) = self.run("-c", "import site; print(site.getsitepackages()[0])").split()
        (pathlib.Path(site) / "borrowed.pth").write_text(f"{borrowed}\n")

    def run(self, *arguments, fails=False):
        """What Python prints in another folder than that of the project."""
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [self.python, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env=own, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stderr[-3000:] + done.stdout[-1000:]
        return done.stderr if fails else done.stdout

    def install(self, *what):
        options = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
        self.run("-m", "pip", "install", *options, *what)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    for name in ("hatchling", "pip"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    return Environment(tmp_path_factory.mktemp("environment"))


def test_installed_used_editable_and_gone(environment):
    environment.install(ROOT)
    assert not pathlib.Path(environment.run("-c", USE).strip()).is_relative_to(ROOT)
    environment.install("-e", ROOT)
    assert pathlib.Path(environment.run("-c", USE).strip()).is_relative_to(ROOT)
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    program = "import river_budget as rb\nrb.foo"
    options = ["--config-file=", "--python-executable", environment.python, "--no-incremental"]
    found, _, _ = api.run([*options, "-c", program])
    assert 'Module has no attribute "foo"' in found
    assert "import-not-found" not in found
    environment.run("-m", "pip", "uninstall", "-y", "river-budget")
    assert "No module named 'river_budget'" in environment.run("-c", USE, fails=True)


def test_a_wheel_holds_the_package_and_what_it_reads(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    import zipfile

    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    stored = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "river_budget").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == stored
