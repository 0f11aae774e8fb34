"""The prompt of a case: behind its name, or as a statement; the text itself, or a file that holds it."""

from __future__ import annotations

from pathlib import Path

from evalkit.analysis.scope import Scope
from evalkit.syntax import nodes as n

__all__ = ["is_file", "resolve_prompt", "text_of_file"]

_ENDINGS = (".md", ".txt")


def resolve_prompt(scope: Scope, folder: Path, node: n.Case) -> str:
    statement = next((item for item in node.body if isinstance(item, n.Prompt)), None)
    if statement is not None and node.prompt is not None:
        scope.findings.report("E031", "the case has a prompt behind its name as well", statement.span,
                              help="keep one of them", notes=(("the other one is here", node.prompt.span),))
    text = statement.text if statement else node.prompt
    if text is None:
        scope.report("E032", f"case `{node.name.value}` has no prompt", node.name.span,
                     help='add `prompt """ … """` or `prompt "PROMPT.md"`')
        return ""
    scope.note("prompt", text.span)
    value = text.value if text.block or statement is None else _prompt_file(scope, folder, text)
    if value is not None and not value.strip():
        scope.report("E032", "the prompt is empty", text.span)
    return value or ""


def is_file(text: n.Str) -> bool:
    """Whether a quoted string, where a text may stand as well, names a file."""
    return not text.block and text.value.endswith(_ENDINGS) and not any(char.isspace() for char in text.value)


def _prompt_file(scope: Scope, folder: Path, text: n.Str) -> str | None:
    if not text.value.endswith(_ENDINGS):
        scope.report("E053", "a quoted prompt names a file that ends in .md or .txt", text.span,
                     help='write the prompt itself as a text block: prompt """ … """')
        return None
    return text_of_file(scope, folder, text)


def text_of_file(scope: Scope, folder: Path, text: n.Str) -> str | None:
    """What a file of the suite holds; None, and an error, where it cannot be read."""
    path = scope.suite.files.find(folder, text.value, text.span, "file")
    if path is None:
        return None
    scope.findings.will_read(scope.suite.files.root / path)
    try:
        return (scope.suite.files.root / path).read_text(encoding="utf-8-sig")
    except OSError as error:
        scope.report("E040", f"`{text.value}` cannot be read: {error.strerror}", text.span)
    except UnicodeDecodeError:
        scope.report("E040", f"`{text.value}` is not UTF-8", text.span, help="save it as UTF-8")
    return None
