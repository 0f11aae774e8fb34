"""The agent `palette`: no model, but what a command palette does: the command whose words are nearest to the prompt's.

A word of the prompt is taken for the nearest one that the commands know (rapidfuzz). It tells the more, the fewer
commands know it (inverse document frequency, as in full-text search), and the nearer to the command it stands: in its
name and title, in the names and values of its arguments, in its description. What a command requires and the prompt
does not tell counts against it. The best command is called once, with the arguments that can be read off the prompt:
values of enums, numbers, what is on or off, quoted texts. It confirms nothing. Its pass rates per tier say how much of
a set a program without a model can do.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.calling import application, calling
from evalkit.execute.agents.conversation import prompt_of
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.models.chat import Tool
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.transcripts import Ended, Message
from evalkit.lint.schema import follow, problem, types_of
from evalkit.plan.trials import AgentTraits, Trial

__all__ = ["Palette", "arguments", "best", "make"]

_NEAR = 84
"""How alike two words are that count as one, of 100."""
_IN_NAME, _IN_ARGUMENTS, _IN_DESCRIPTION = 3.0, 2.0, 1.0
"""What a word tells by where it stands."""
_COMMON = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "for", "from", "get", "give", "i", "in",
    "into", "is", "it", "its", "let", "like", "make", "me", "my", "of", "on", "or", "please", "see", "show", "so",
    "some", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "this", "to", "too", "up", "us",
    "want", "was", "we", "what", "where", "which", "while", "with", "would", "you", "your"))
_ON = frozenset(("on", "show", "enable", "visible", "true", "with", "yes"))
_OFF = frozenset(("off", "hide", "disable", "invisible", "false", "without", "no", "remove"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
_QUOTED = re.compile("[\"\u201c]([^\"\u201d]{2,})[\"\u201d]")


def make(wanted: Wanted) -> Palette:
    """Raises UserError where the library is missing."""
    try:
        from rapidfuzz import __version__
    except ImportError:
        raise UserError("agent=palette needs the package `rapidfuzz`", hint="pip install 'evalkit[commands]'") from None
    version = f"1 rapidfuzz {__version__}"
    return Palette(wanted.root, AgentTraits(version, frozenset({"prompt", "tools"}), sampled=False, builds=False))


@frozen
class Palette:
    """The agent `palette`."""

    root: Path
    traits: AgentTraits
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        return []  # what it does not read (guidance, limits) is for models

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        return application(self.root, unit)

    def check(self, trial: Trial) -> None:
        if not trial.case.agent.has_commands:
            raise UserError(f"case `{trial.case.name}` has no registry of commands for agent=palette",
                            hint='agent tools { registry "package.module:name" }')

    def run(self, job: Job) -> Ending:
        prompt = prompt_of(job.trial.case)
        with calling(job, "palette", often=True) as caller:
            caller.writer.write(Message("user", prompt))
            tool = best(prompt, caller.layer.tools, caller.layer.titles)
            if tool is not None:
                try:
                    caller.call("c1", tool.name, arguments(prompt, tool))
                except HarnessError as error:
                    raise AgentError(f"the application failed at `{tool.name}`: {error.message}",
                                     hint="run again: nothing was kept") from error
            caller.writer.write(Ended("end"))
        said = f"called `{tool.name}`" if tool is not None else "found no command"
        return Ending("completed", said, Usage(turns=0, cost=0.0))

    def describe(self, job: Job) -> str:
        return "calls the command whose words are nearest to the prompt's; asks no model"


# ---- which command ----
def best(prompt: str, tools: tuple[Tool, ...], titles: Mapping[str, str]) -> Tool | None:
    """The command whose words are nearest to the prompt's; None where no word of it is known."""
    known = [_weights(tool, titles.get(tool.name, "")) for tool in tools]
    counts = Counter(word for words in known for word in words)
    heard = {near for word in _words(prompt) if (near := _nearest(word, counts)) is not None}
    scores = []
    for tool, words in zip(tools, known, strict=True):
        told = sum(words.get(word, 0.0) * math.log(1 + len(tools) / counts[word]) for word in heard)
        length = math.sqrt(2 + sum(weight == _IN_NAME for weight in words.values()))
        scores.append(told / length * _ready(prompt, tool) if told else 0.0)
    top = max(scores, default=0.0)
    return tools[scores.index(top)] if top > 0 else None


def _ready(prompt: str, tool: Tool) -> float:
    """How much of what a command requires can be read off the prompt: from 0 to 1."""
    required = tool.schema.get("required")
    if not isinstance(required, list):
        return 1.0
    given = arguments(prompt, tool)
    return (1 + sum(name in given for name in required)) / (1 + len(required))


def _weights(tool: Tool, title: str) -> dict[str, float]:
    """The words of a command, each with the most that it tells."""
    found: dict[str, float] = {}
    parts = [(tool.description, _IN_DESCRIPTION), (" ".join(_argument_texts(tool.schema)), _IN_ARGUMENTS),
             (f"{tool.name} {title}", _IN_NAME)]
    for text, weight in parts:
        found |= dict.fromkeys(_words(text), weight)
    return found


def _argument_texts(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, part in _properties(schema).items():
        yield name
        for value in _values(part, schema):
            yield str(value)


def _words(text: str) -> list[str]:
    """The words of a text or a name in camel case, without those that everybody uses."""
    return [word for word in map(str.lower, _WORD.findall(text)) if word not in _COMMON and not word.isdigit()]


def _nearest(word: str, known: Mapping[str, int]) -> str | None:
    from rapidfuzz import fuzz, process

    if word in known:
        return word
    found = process.extractOne(word, known.keys(), scorer=fuzz.ratio, score_cutoff=_NEAR)
    return None if found is None else str(found[0])


# ---- with which arguments ----
def arguments(prompt: str, tool: Tool) -> dict[str, Any]:
    """What of a command's arguments can be read off a prompt, in the order of its schema, required ones first."""
    required = tool.schema.get("required")
    first = set(required if isinstance(required, list) else ())
    numbers = [_number(text) for text in _NUMBER.findall(prompt)]
    quoted = _QUOTED.findall(prompt)
    found: dict[str, Any] = {}
    properties = _properties(tool.schema)
    for name in sorted(properties, key=lambda name: name not in first):
        schema = follow(properties[name], tool.schema)
        for value in _read(name, schema, tool.schema, prompt, numbers, quoted, needed=name in first):
            if not problem(value, schema, tool.schema):
                found[name] = value
                for used in value if isinstance(value, list) else [value]:
                    if used in numbers and not isinstance(used, bool):
                        numbers.remove(used)
                    if used in quoted:
                        quoted.remove(used)
                break
    return found


def _read(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], prompt: str, numbers: list[int | float],
          quoted: list[str], *, needed: bool) -> Iterator[Any]:
    """Values that an argument may have by the prompt, the best first."""
    types = types_of(schema)
    named = [value for value in _values(schema, root) if _is_named(value, prompt)]
    if "array" in types:
        yield from ([named] if named else [])
        yield from ([list(numbers)] if numbers else [])
        return
    yield from named
    if "boolean" in types:
        words = set(_WORD.findall(prompt.lower()))
        if needed or words & (_ON | _OFF) or words & set(_words(name)):
            yield not words & _OFF
    if {"number", "integer"} & set(types):
        yield from numbers
    if "string" in types and not isinstance(schema.get("enum"), list):
        yield from quoted


def _is_named(value: Any, prompt: str) -> bool:
    """Whether all words of a value are in the prompt, as far as somebody would write them so."""
    from rapidfuzz import fuzz, process

    words = _WORD.findall(str(value).lower()) if isinstance(value, str) else []
    said = _WORD.findall(prompt.lower())
    return bool(words) and all(process.extractOne(word, said, scorer=fuzz.ratio, score_cutoff=_NEAR) for word in words)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = follow(schema, schema).get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _values(schema: Any, root: Mapping[str, Any]) -> list[Any]:
    """The values that an argument, or an item of a list, may have by name."""
    found = follow(schema, root)
    if "array" in types_of(found):
        found = follow(found.get("items", {}), root)
    known = found.get("enum")
    return [*(known if isinstance(known, list) else ()), *([found["const"]] if "const" in found else ())]


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
