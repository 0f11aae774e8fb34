"""YAML with places: each value knows its line, and errors are collected, not raised one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from evalkit.diagnostics import did_you_mean
from evalkit.errors import UserError

if TYPE_CHECKING:
    import yaml

__all__ = ["Problems", "compose", "keys_of", "plain"]

_SHOWN = 20


@define
class Problems:
    """What is wrong in a file, in the order in which it was found."""

    path: str
    found: list[str] = field(factory=list)

    def add(self, node: yaml.Node | int, message: str, hint: str = "") -> None:
        """node: what is wrong, or its line."""
        line = node if isinstance(node, int) else node.start_mark.line + 1
        self.found.append(f"{self.path}:{line}: {message}" + (f" ({hint})" if hint else ""))

    def check(self, hint: str) -> None:
        """Raise `UserError` with all of them, if there are any."""
        if self.found:
            more = len(self.found) - _SHOWN
            raise UserError("\n".join(self.found[:_SHOWN]) + (f"\nand {more} more" if more > 0 else ""), hint=hint)


def compose(text: str, problems: Problems) -> yaml.Node | None:
    """The document's node; a syntax error becomes a problem."""
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problems.add(line, f"that is no YAML: {error.problem or error}")
    except (yaml.YAMLError, RecursionError) as error:
        problems.add(1, f"that is no YAML: {str(error).splitlines()[0] if str(error) else 'it is nested too deep'}")
    return None


def keys_of(node: yaml.Node, what: str, known: Mapping[str, Any], problems: Problems) -> dict[str, yaml.Node]:
    """A mapping's values by their keys; unknown keys, and those that are given twice, become problems."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        problems.add(node, f"{what} is a mapping of keys", "known here: " + ", ".join(f"`{key}`" for key in known))
        return {}
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name not in known:
            problems.add(key, f"{what} has no key `{name}`", did_you_mean(name, known, limit=20))
        elif name in found:
            problems.add(key, f"`{name}` is there twice", f"first in line {found[name].start_mark.line + 1}")
        else:
            found[name] = value
    return found


_SCALARS: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text.replace("_", ""), 0), "float": lambda text: float(text.replace("_", "")),
    "bool": lambda text: text.lower() in ("true", "yes", "on"), "null": lambda _: None,
}


def plain(node: yaml.Node, depth: int = 0) -> Any:
    """Data as JSON has it: dates and the like stay texts. Raises ValueError for what is nested too deep."""
    import yaml

    if depth > 60:
        raise ValueError("it is nested too deep")
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): plain(value, depth + 1) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(value, depth + 1) for value in node.value]
    convert = _SCALARS.get(node.tag.rpartition(":")[2], str)
    try:
        return convert(node.value)
    except ValueError:
        return str(node.value)
