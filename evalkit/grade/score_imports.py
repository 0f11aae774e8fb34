"""What names stand for in a source text: a module, or what a module exports.

They come from imports, from `await import(…)`, `import(…).then(…)` or `require(…)`, from taking a module's object to
pieces (`const {init} = xb`), and from another name for it (`const x = xb`). Scopes are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import Factory, define

from evalkit.grade.score_nodes import bare, name_of, string_of, text_of, within

__all__ = ["Imports", "loaded"]


@define
class Imports:
    """modules: those that are imported. names: what names stand for: a module, and the names within it."""

    modules: set[str] = Factory(set)
    names: dict[str, tuple[str, tuple[str, ...]]] = Factory(dict)
    pieces: list[tuple[str, tuple[str, ...], str]] = Factory(list)
    """(name, exported name, module's name): what a module's object was taken to pieces into; () is the whole."""

    def resolve(self, chain: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        """What a chain's first name stands for, with the rest of it."""
        known = self.names.get(chain[0])
        if known is None:
            for name, exported, module in self.pieces:
                if name == chain[0] and module in self.names:
                    own, inner = self.names[module]
                    return own, (*inner, *exported, *chain[1:])
            return None
        module, names = known
        return module, (*names, *chain[1:])

    def imported(self, node: Any) -> None:
        """An import statement, or an export of another module."""
        if node.type == "future_import_statement" or any(child.type in ("type", "typeof") for child in node.children):
            return
        if node.type == "import_from_statement":
            self._from(node)
            return
        source = node.child_by_field_name("source") or next(iter(within(node, "string")), None)
        if source is None:
            for name in node.children_by_field_name("name"):
                self._python(name)
            return
        module = string_of(source)
        self.modules.add(module)
        if node.type == "export_statement":
            return
        for inner in within(node, "import_clause", "import_require_clause"):
            for child in inner.named_children:
                if child.type == "identifier":
                    self.names[text_of(child)] = (module, ("default",) if inner.type == "import_clause" else ())
                elif child.type == "namespace_import":
                    self.names[text_of(child.named_children[-1])] = (module, ())
                for part in within(child, "import_specifier"):
                    exported = part.child_by_field_name("name")
                    name = part.child_by_field_name("alias") or exported
                    if exported is not None and not any(inner.type == "type" for inner in part.children):
                        self.names[text_of(name)] = (module, (name_of(exported),))

    def _python(self, name: Any) -> None:
        """`import a.b`, `import a.b as c`."""
        dotted = name.child_by_field_name("name") if name.type == "aliased_import" else name
        if dotted is None:
            return
        module, alias = text_of(dotted), name.child_by_field_name("alias")
        self.modules.add(module)
        if alias is not None:
            self.names[text_of(alias)] = (module, ())
        else:
            top = module.partition(".")[0]
            self.names[top] = (top, ())

    def _from(self, node: Any) -> None:
        """`from a.b import c as d`: c may be a module too."""
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        module = text_of(source)
        self.modules.add(module)
        for name in node.children_by_field_name("name"):
            inner = name.child_by_field_name("name") if name.type == "aliased_import" else name
            alias = name.child_by_field_name("alias") or inner
            if inner is not None:
                self.modules.add(f"{module}.{text_of(inner)}")
                self.names[text_of(alias)] = (module, (text_of(inner),))

    def load(self, module: str) -> None:
        """A module whose object is used where it is loaded: it goes by its own name."""
        self.modules.add(module)
        self.names[module] = (module, ())

    def required(self, node: Any) -> None:
        """`import('…')`, `require('…')`, and the names that they, or a module's object, are given to."""
        if node.type == "call_expression":
            if (module := loaded(node)) is not None:
                self.modules.add(module)
            self._then(node)
            return
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if target is not None and value is not None:
            value = bare(value)
            self._given(target, loaded(value), text_of(value) if value.type == "identifier" else None)

    def _then(self, call: Any) -> None:
        """`import('…').then((xb) => …)`."""
        what, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if what is None or arguments is None or what.type != "member_expression":
            return
        source, property_ = what.child_by_field_name("object"), what.child_by_field_name("property")
        module = loaded(bare(source)) if source is not None and text_of(property_) == "then" else None
        function = next((child for child in arguments.named_children if child.type != "comment"), None)
        if module is None or function is None:
            return
        parameter = function.child_by_field_name("parameter")
        if parameter is None and (several := function.child_by_field_name("parameters")) is not None:
            parameter = next((child for child in several.named_children if child.type != "comment"), None)
        if parameter is not None:
            self._given(parameter.child_by_field_name("pattern") or parameter, module, None)

    def _given(self, target: Any, module: str | None, name: str | None) -> None:
        """A module's object, or what goes by a name, is given to a name or taken to pieces."""
        taken = [(text_of(target), ())] if target.type == "identifier" else \
            [(own, (exported,)) for own, exported in _taken(target)] if target.type == "object_pattern" else []
        for own, exported in taken:
            if module is not None:
                self.names[own] = (module, exported)
            elif name is not None and name != own:
                self.pieces.append((own, exported, name))


def loaded(call: Any) -> str | None:
    """The module of `import('…')` and `require('…')`."""
    if call.type != "call_expression":
        return None
    what, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if what is None or arguments is None or text_of(what) not in ("import", "require"):
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if not given or given[0].type not in ("string", "template_string"):
        return None
    return None if any(child.type == "template_substitution" for child in given[0].children) else string_of(given[0])


def _taken(pattern: Any) -> Iterator[tuple[str, str]]:
    """(name, key) of an object pattern's simple parts."""
    for part in pattern.named_children:
        if part.type == "object_assignment_pattern":  # {init = …}
            part = part.child_by_field_name("left") or part
        if part.type == "shorthand_property_identifier_pattern":
            yield text_of(part), text_of(part)
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if value is not None and value.type == "assignment_pattern":  # {init: go = …}
                value = value.child_by_field_name("left")
            if key is not None and value is not None and value.type == "identifier":
                yield text_of(value), name_of(key)
