"""The image of live checks: its declaration, the Dockerfile made of it, and the root file system that is made once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from evalkit.errors import HarnessError, UserError
from evalkit.execute import image_build
from evalkit.execute.image import (
    LINUX,
    Image,
    dockerfile,
    dockerfile_place,
    find_image,
    image_file,
    image_folder,
    read_image,
)
from evalkit.execute.image_build import build_image
from evalkit.records import read_json

PROJECT = Path(__file__).parents[3]
GOOD = "schema: 1\nname: {name}\nrelease: trixie\npackages: [git, xvfb]\n"
MMDEBSTRAP = r"""#!/bin/sh
printf '%s\n' "$@" > "$HOME/words"
echo "I: running apt-get update..." >&2
echo once >> "$HOME/calls"
[ -e "$HOME/slow" ] && sleep 0.5
if [ -e "$HOME/fail" ]; then echo "E: unable to find the keyring" >&2; exit 1; fi
for word; do case $word in *.tar) to=$word;; esac; done
mkdir -p "$TMPDIR/r/usr/bin" "$TMPDIR/r/var/lib/dpkg"
printf 'Package: git\nVersion: 1:2.47\n\nPackage: xvfb\nVersion: 2:21\n' > "$TMPDIR/r/var/lib/dpkg/status"
tar -cf "$to" -C "$TMPDIR/r" .
"""


class Machine:
    """A home with an mmdebstrap that does what marker files in it say."""

    def __init__(self, folder: Path) -> None:
        self.home, self.cache = folder / "home", folder / "my cache"
        (self.home / "bin").mkdir(parents=True)
        self.program("mmdebstrap", MMDEBSTRAP)
        self.environ = {"PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "HOME": str(self.home)}
        self.image = Image("small", "trixie", ("git", "xvfb"))
        self.said: list[str] = []

    def program(self, name: str, text: str) -> None:
        (self.home / "bin" / name).write_text(text)
        (self.home / "bin" / name).chmod(0o755)

    def build(self) -> Path:
        return build_image(self.cache, self.image, self.environ, self.said.append)

    @property
    def calls(self) -> int:
        return len((self.home / "calls").read_text().splitlines()) if (self.home / "calls").exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def declared(root: Path, text: str, name: str = "small") -> Image:
    (root / "sandbox").mkdir(exist_ok=True)
    (root / "sandbox" / f"{name}.yaml").write_text(text.format(name=name))
    return read_image(root, name)


# ---- the declaration ----
def test_the_dockerfile_is_what_the_declaration_makes() -> None:
    """sandbox/Dockerfile is never edited by hand: `doit run image:linux` writes it."""
    place = dockerfile_place(PROJECT, LINUX)
    assert place is not None
    assert dockerfile(read_image(PROJECT, LINUX)) == place.read_text("utf-8")


def test_every_package_and_user_is_in_the_dockerfile() -> None:
    image = read_image(PROJECT, LINUX)
    text = dockerfile(image)
    assert f"FROM debian:{image.release}-slim\n" in text
    assert all(f" {package} \\\n" in text for package in image.packages)
    assert "useradd --uid 1000" in text


def test_a_project_without_an_image_of_its_own_has_evalkits(tmp_path: Path) -> None:
    """And its Dockerfile is nobody's to write there."""
    assert image_file(tmp_path, LINUX) == PROJECT / "sandbox/linux.yaml"
    assert dockerfile_place(tmp_path, LINUX) is None


@pytest.mark.parametrize(("text", "told"), [
    ("schema: 1\nname: other\nrelease: trixie\npackages: [git]\n", "it is called `other`"),
    ("schema: 2\nname: {name}\nrelease: trixie\npackages: [git]\n", "schema 2 is not known"),
    (GOOD + "packets: [x]\n", "unknown `packets`"),
    ("schema: 1\nname: {name}\nrelease: trixie\npackages: []\n", "no packages"),
    ("schema: 1\nname: {name}\nrelease: trixie\npackages: ['git; reboot']\n", "`git; reboot` is no package"),
    (GOOD + "mounts: [/../etc]\n", "is no mount"),
    (GOOD + "users: [{{name: 'a b', id: 1, home: /h}}]\n", "`a b` is no user"),
    ("packages: [", "expected"),
    ("- a list\n", "no mapping"),
])
def test_what_no_declaration_may_say(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        declared(tmp_path, text)
    assert told in str(caught.value)
    assert "small.yaml" in str(caught.value)


def test_a_comment_makes_no_other_image(tmp_path: Path) -> None:
    """Another package does."""
    first = declared(tmp_path, GOOD).digest
    assert declared(tmp_path, "# a comment\n" + GOOD).digest == first
    assert declared(tmp_path, GOOD.replace("git", "git, procps")).digest != first


# ---- the root file system ----
def test_it_is_made_once(machine: Machine) -> None:
    """With what was installed noted; a second time nothing runs."""
    root = machine.build()
    assert root == machine.build() == find_image(machine.cache, machine.image)
    assert machine.calls == 1
    assert read_json(root.parent / "image.json")["packages"] == {"git": "1:2.47", "xvfb": "2:21"}
    assert "running apt-get update..." in machine.said or machine.said[0].startswith("making the image")


def test_nothing_of_a_failed_build_stays(machine: Machine) -> None:
    """What failed is told in mmdebstrap's own words, and tried again the next time."""
    (machine.home / "fail").touch()
    with pytest.raises(HarnessError, match="unable to find the keyring"):
        machine.build()
    assert find_image(machine.cache, machine.image) is None
    assert list((machine.cache / "images").iterdir()) == []
    (machine.home / "fail").unlink()
    assert machine.build().is_dir()


def test_a_half_made_one_does_not_count(machine: Machine) -> None:
    place = image_folder(machine.cache, machine.image)
    (place / "root/usr/bin").mkdir(parents=True)
    assert find_image(machine.cache, machine.image) is None
    assert machine.build().is_dir()
    assert machine.calls == 1


def test_what_a_killed_build_left_is_removed(machine: Machine) -> None:
    left = machine.cache / "images/999999999-image-abcdef01"
    left.mkdir(parents=True)
    machine.build()
    assert not left.exists()


def test_two_at_once_make_one(machine: Machine) -> None:
    (machine.home / "slow").touch()
    threads = [threading.Thread(target=machine.build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert machine.calls == 1
    assert "another run is making it; waiting" in machine.said


def test_a_missing_mmdebstrap(machine: Machine, tmp_path: Path) -> None:
    """The line to type."""
    (tmp_path / "empty").mkdir()
    machine.environ["PATH"] = str(tmp_path / "empty")
    with pytest.raises(HarnessError) as caught:
        machine.build()
    assert "apt-get install mmdebstrap" in caught.value.hint


def test_an_image_that_is_there_needs_no_mmdebstrap(machine: Machine) -> None:
    machine.build()
    machine.environ["PATH"] = "/nowhere"
    assert machine.build().is_dir()


def test_no_model_key_reaches_it(machine: Machine) -> None:
    machine.environ["ANTHROPIC_API_KEY"] = "sk-a-key"
    machine.program("mmdebstrap", MMDEBSTRAP.replace("#!/bin/sh\n", '#!/bin/sh\nenv > "$HOME/env"\n'))
    machine.build()
    assert "sk-a-key" not in (machine.home / "env").read_text()


def test_packages_come_from_where_the_machine_gets_its_own(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mirror is found by apt's own word, and so are the settings of the way there: nothing else of it."""
    monkeypatch.setattr(image_build, "_system", lambda: {"ID": "debian", "VERSION_CODENAME": "bookworm"})
    machine.program("apt-get", "#!/bin/sh\nprintf 'http://other.invalid/x\\tbookworm\\tmain\\tOther\\n"
                               "http://mirror.invalid/debian/\\tbookworm\\tmain\\tDebian\\n"
                               "http://mirror.invalid/debian/\\tbookworm-updates\\tmain\\tDebian\\n'\n")
    machine.program("apt-config", "#!/bin/sh\nprintf 'APT::Architecture \"amd64\";\\n"
                                  "Acquire::http::Proxy \"http://proxy.invalid:1\";\\n'\n")
    machine.program("mmdebstrap", MMDEBSTRAP + 'for word; do case $word in --aptopt=/*) cat "${word#--aptopt=}" > '
                                               '"$HOME/conf";; esac; done\n')
    machine.build()
    words = (machine.home / "words").read_text().splitlines()
    assert words[-1] == "http://mirror.invalid/debian/"
    assert words[-3] == "trixie"
    assert (machine.home / "conf").read_text() == 'Acquire::http::Proxy "http://proxy.invalid:1";\n'


def test_on_another_system_mmdebstrap_has_its_own_mirror(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_build, "_system", lambda: {"ID": "fedora"})
    machine.build()
    assert (machine.home / "words").read_text().splitlines()[-1].endswith(".tar")
