"""The names of agents and graders: evalkit's own, and those of other distributions.

Another distribution adds an agent or a grader with an entry point of its package metadata, in the group
`evalkit.agents` or `evalkit.graders`. Entry points are looked up only for a name that is none of evalkit's own:
ordinary runs never pay for it. What a plug-in must offer stands in docs/plugins.md.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from evalkit.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

__all__ = ["AGENTS", "SPOKEN_AGENTS", "Group", "Plugin", "distribution_files", "find_plugin", "load_plugin",
           "own_failure", "plugin_names"]

AGENTS = ("claude", "api", "tools", "palette", "command", "oracle", "nop")
"""Agents of evalkit's own that a case may select."""
SPOKEN_AGENTS = ("wrong:NAME", "replay:PATH", "command:LINE")
"""Agents of evalkit's own that only a command line selects."""

Group: TypeAlias = Literal["agents", "graders"]


class Plugin(NamedTuple):
    """An agent or a grader of another distribution. version: the distribution's."""

    group: Group
    name: str
    distribution: str
    version: str
    entry: EntryPoint

    @property
    def shown(self) -> str:
        """What an error calls it."""
        what = self.group.removesuffix("s")
        return f"the {what} `{self.name}` of the distribution {self.distribution} {self.version}"

    @property
    def files(self) -> tuple[Path, ...]:
        """The file that tells the distribution's version, and its module, where it is loaded: while both are as they
        were, it is the same plug-in.
        """
        module = getattr(sys.modules.get(self.entry.module), "__file__", None)
        return (*_metadata(self.entry.dist), *((Path(module),) if module else ()))


def distribution_files(name: str) -> tuple[Path, ...]:
    """The file that tells a distribution's version; none where it is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return _metadata(distribution(name))
    except PackageNotFoundError:
        return ()


def _metadata(found: Distribution | None) -> tuple[Path, ...]:
    place = getattr(found, "_path", None)  # one in a zip file has none
    return (place / "METADATA",) if isinstance(place, Path) else ()


@cache
def _all(group: Group) -> tuple[Plugin, ...]:
    from importlib.metadata import entry_points

    return tuple(Plugin(group, entry.name, entry.dist.name, entry.dist.version, entry)
                 for entry in entry_points(group=f"evalkit.{group}") if entry.dist is not None)


def plugin_names(group: Group) -> list[str]:
    """The names that other distributions offer."""
    return sorted({plugin.name for plugin in _all(group)})


def find_plugin(group: Group, name: str) -> Plugin | None:
    """Who offers a name, or None. Raises UserError where two distributions do."""
    found = {plugin.distribution: plugin for plugin in _all(group) if plugin.name == name}
    if len(found) > 1:
        raise UserError(f"{len(found)} distributions offer the {group.removesuffix('s')} `{name}`: "
                        + ", ".join(sorted(found)), hint="uninstall all but one of them")
    return next(iter(found.values()), None)


def load_plugin(plugin: Plugin) -> Any:
    """What an entry point names. Raises UserError, with the distribution's name, where it cannot be imported."""
    try:
        return plugin.entry.load()
    except BaseException as error:
        raise UserError(f"{plugin.shown} cannot be loaded: {own_failure(error)}",
                        hint=f"its entry point is `{plugin.entry.value}`: is {plugin.distribution} installed whole?"
                        ) from error


def own_failure(error: BaseException) -> str:
    """What a plug-in failed with, in a line: an exit is a failure, too, since it would end evalkit.

    Raises the error itself where it is the person's Ctrl-C, which comes to the main thread alone.
    """
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    return f"{type(error).__name__}: {error}"
