"""The files that an import makes: collected first, written when all is known, and never over a file that is there."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from attrs import define, field

from evalkit.errors import UserError

__all__ = ["Target"]

_NAMED = 10
"""Files that an error names."""


@define
class Target:
    """The suite's folder. Contents are texts, or files of the source that are copied."""

    folder: Path
    files: dict[str, str | Path] = field(factory=dict)

    def add(self, name: str, content: str | Path) -> None:
        self.files[name] = content

    def add_tree(self, prefix: str, files: Mapping[str, Path]) -> None:
        for name, path in files.items():
            self.files[f"{prefix}/{name}"] = path

    def has(self, prefix: str) -> bool:
        """Whether there is such a file, or a folder with files."""
        return prefix in self.files or any(name.startswith(f"{prefix}/") for name in self.files)

    def write(self, *, force: bool = False) -> None:
        """Write all files. Raises `UserError` where one is there already (unless forced) or cannot be written."""
        there = [name for name in sorted(self.files)
                 if (self.folder / name).exists() or (self.folder / name).is_symlink()]
        if there and not force:
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            raise UserError(f"nothing was written: {', '.join(there[:_NAMED])}{more} "
                            f"{'is' if len(there) == 1 else 'are'} in {self.folder} already",
                            hint="import into another folder (`--into`), or overwrite them with `--force`")
        for name, content in self.files.items():
            path = self.folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.is_symlink():
                    path.unlink()  # what it leads to is not ours to overwrite
                if isinstance(content, str):
                    path.write_text(content, encoding="utf-8", newline="\n")
                else:
                    shutil.copyfile(content, path)
                    path.chmod(0o755 if content.stat().st_mode & 0o100 else 0o644)
            except OSError as error:
                raise UserError(f"cannot write {path}: {error.strerror}") from error
