"""Claude Code's transcripts: the stream of `claude -p --output-format stream-json`, and its session files.

In both, a tool call is a block of an `assistant` line and its result a block of a later `user` line; what else the
tool told stands beside the result (`tool_use_result`, in sessions `toolUseResult`). A sub-agent's lines name the call
that started it (`parent_tool_use_id`), in sessions they are marked `isSidechain`.

What was found on 2.1.332: the input that an Edit is shown with is what was really applied (ends of lines are stripped),
and the result's `originalFile` is the file before it, with `\\n` for `\\r\\n`. Which calls were denied is told by a
`system` line before the result, in sessions by `toolDenialKind`, and by older ones only in the last line of all
(`permission_denials`), so that this has to be known before the first (`denied`). Each content block of a message is a
line of its own; results of its first calls may stand between them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evalkit.execute.transcripts.claude_tokens import ANY, Usages, told_tokens
from evalkit.execute.transcripts.model import (
    Compacted,
    Ended,
    Event,
    Folder,
    Gap,
    Limit,
    LimitKind,
    Message,
    SubAgent,
    Tool,
    ToolCall,
    ToolResult,
)
from evalkit.execute.transcripts.seen import Seen

__all__ = ["DENIALS", "ClaudeFormat", "denied_by", "tool_of"]

DENIALS = b'"permission_denials"'
"""What a line holds that names denied calls."""
_NOT_RUN = "<tool_use_error>"
"""What the result of a call begins with that was refused before anything was done."""
_DENIED = ("Claude requested permissions to ", "Permission to use ", "This command requires approval",
           "The user doesn't want to proceed with this tool use")
_TOOLS: dict[str, Tool] = {
    "Read": "read", "NotebookRead": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit",
    "NotebookEdit": "edit", "Bash": "shell", "BashOutput": "shell", "KillBash": "shell", "KillShell": "shell",
    "PowerShell": "shell", "Glob": "search", "Grep": "search", "LS": "search", "WebFetch": "web", "WebSearch": "web",
    "Task": "task", "Agent": "task", "ListMcpResources": "mcp", "ListMcpResourcesTool": "mcp",
    "ReadMcpResource": "mcp", "ReadMcpResourceTool": "mcp",
}
_MARKS = (b'"assistant"', b'"parent_tool_use_id"', b'"tool_use_id"', b'"toolu_')
"""What lines of messages have, whatever is missing of them."""
_PATHS = ("file_path", "notebook_path", "path")
_LIMITS: dict[str, LimitKind] = {"error_max_turns": "turns", "error_max_budget_usd": "cost"}
_STOPS = {"max_tokens": "a reply reached its greatest length",
          "model_context_window_exceeded": "the conversation filled the model's context"}
_TELLING = frozenset({"message_start", "message_delta"})
"""The provider's own events that tell of usage."""
_EARLY, _EARLY_LINES = 4, 8
"""Results without a call that are held, and for how many lines: their call may be on a line that was torn."""


class ClaudeFormat:
    """Objects of such a transcript -> events. denied: calls of which only later lines tell that they were denied."""

    KINDS = frozenset({"assistant", "user", "system", "result", "stream_event", "rate_limit_event"})

    def __init__(self, denied: Collection[str] = ()) -> None:
        self._denied = set(denied)
        self._open: dict[str, ToolCall] = {}
        self._known = Seen()
        self._lines = Seen()
        self._usages = Usages()
        self._early: dict[str, tuple[int, Mapping[str, Any], Mapping[str, Any]]] = {}
        self._aside: set[str] = set()
        self._folder = ""
        self._stopped: tuple[str, str] | None = None

    def held(self, raw: bytes, *, whole: bool) -> str:
        """What a line seems to have held that cannot be read, or ""."""
        if b'"tool_use"' in raw:
            return "it is damaged, and held a tool call"
        if not whole:
            return ""  # of a result that is cut the call is known
        if b'"tool_result"' in raw:
            return "it is damaged, and held a tool's result"
        told = b'"stream_event"' not in raw and any(mark in raw for mark in _MARKS)
        return "it is damaged, and may have held a call" if told else ""

    def take(self, line: int, event: Mapping[str, Any], out: list[Event]) -> None:
        """Add what an object of the file tells."""
        kind = event.get("type")
        if self._early:
            self._overdue(line, out)
        if kind == "stream_event":
            inner = event.get("event")
            if type(inner) is dict and inner.get("type") in _TELLING:
                self._streamed(line, event, inner, out)
            return
        identity = event.get("uuid")
        if isinstance(identity, str) and not self._lines.add(identity):
            return
        aside = event.get("parent_tool_use_id")
        if type(aside) is not str:
            aside = ANY if event.get("isSidechain") is True else ""
        folder = event.get("cwd")
        if folder and folder != self._folder and isinstance(folder, str) and not aside:
            self._folder = folder
            out.append(Folder(folder, line))
        if kind == "assistant" or kind == "user":
            if aside and aside not in self._aside:
                self._aside.add(aside)
                out.append(SubAgent(aside, line))
            message = event.get("message")
            if type(message) is dict:
                self._message(line, event, message, aside, out)
        elif kind == "system":
            self._system(line, event, out)
        elif kind == "result":
            self._result_line(line, event, out)
        elif kind == "rate_limit_event":
            info = event.get("rate_limit_info")
            if isinstance(info, dict) and info.get("status") not in (None, "allowed", "allowed_warning"):
                out.append(Limit("rate", f"{info.get('rateLimitType') or 'limit'}: {info['status']}", line))

    def end(self, out: list[Event]) -> None:
        """Add what is known when the file ends: usages that could have grown, calls without a result."""
        self._usages.close(out)
        for at, _, _ in self._early.values():
            out.append(Gap(at, "it is the result of a call that is not there"))
        for call in self._open.values():
            denied = call.id in self._denied
            out.append(ToolResult(call, "denied" if denied else "missing", ran=not denied, line=call.line))
        self._open.clear()

    # ---- messages ----
    def _message(self, line: int, event: Mapping[str, Any], message: Mapping[str, Any], aside: str,
                 out: list[Event]) -> None:
        said_by = event["type"]
        identity = message.get("id")
        if type(identity) is not str:
            identity = ""
        by_model = said_by == "assistant"
        if by_model and (event.get("is_api_error_message") or event.get("isApiErrorMessage")):
            said, error = _text(message.get("content")), event.get("error")
            out.append(Limit("rate", said, line) if error == "rate_limit" else
                       Message("system", said, aside, identity, line))
            return
        if by_model and message.get("model") != "<synthetic>":
            usage = message.get("usage")
            if identity and isinstance(usage, dict):
                self._usages.count(line, identity, usage, message.get("model"), aside, out)
            if (reason := message.get("stop_reason")) is not None:
                self._stop(line, identity, reason, out)
        elif by_model or event.get("isMeta") is True or event.get("isCompactSummary") is True:
            said_by = "system"
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in content if isinstance(content, list) else ():
            if type(block) is not dict:
                continue
            kind = block.get("type")
            if kind == "text":
                text = block.get("text")
                if isinstance(text, str) and text and (not identity or self._lines.add((identity, text))):
                    out.append(Message(said_by, text, aside, identity, line))
            elif kind == "tool_use":
                self._call(line, block, aside, out)
            elif kind == "tool_result":
                self._result(line, event, block, out)
            elif kind == "thinking":
                text = block.get("thinking")
                if isinstance(text, str) and text and (not identity or self._lines.add((identity, text))):
                    out.append(Message("thinking", text, aside, identity, line))

    def _stop(self, line: int, identity: str, reason: object, out: list[Event]) -> None:
        if isinstance(reason, str) and reason in _STOPS and (identity, reason) != self._stopped:
            self._stopped = identity, reason
            out.append(Limit("tokens", _STOPS[reason], line))

    def _call(self, line: int, block: Mapping[str, Any], aside: str, out: list[Event]) -> None:
        name, identity, given = block.get("name"), block.get("id"), block.get("input")
        if not (isinstance(name, str) and isinstance(identity, str) and isinstance(given, dict)):
            out.append(Gap(line, "its tool call has no name, id or input"))
        elif self._known.add(identity) or identity in self._early:
            command = given.get("command")
            for key in _PATHS:
                if type(path := given.get(key)) is str:
                    break
            else:
                path = ""
            call = self._open[identity] = ToolCall(identity, name, given, tool_of(name), path,
                                                   command if isinstance(command, str) else "", aside, line)
            out.append(call)
            if identity in self._early:
                self._result(*self._early.pop(identity), out)

    def _result(self, line: int, event: Mapping[str, Any], block: Mapping[str, Any], out: list[Event]) -> None:
        name = str(block.get("tool_use_id"))
        call = self._open.pop(name, None)
        if call is None:
            if self._known.add(name):
                if len(self._early) >= _EARLY:
                    self._overdue(line + _EARLY_LINES + 1, out)
                self._early[name] = line, event, block
            return
        failed = block.get("is_error") is True
        detail = event.get("tool_use_result") or event.get("toolUseResult")
        told = detail if type(detail) is dict else {}
        said = block.get("content")
        said = said if type(said) is str else _text(said)
        if name in self._denied or event.get("toolDenialKind") or (failed and said.startswith(_DENIED)):
            out.append(ToolResult(call, "denied", False, said, {}, line))
        else:
            ran = not (failed and said.startswith(_NOT_RUN))
            out.append(ToolResult(call, "error" if failed else "ok", ran, said, told, line))

    def _overdue(self, line: int, out: list[Event]) -> None:
        """Results whose call was waited for long enough."""
        for name in [name for name, (at, _, _) in self._early.items() if line - at > _EARLY_LINES]:
            at, _, _ = self._early.pop(name)
            out.append(Gap(at, "it is the result of a call that is not there"))

    # ---- usage ----
    def _streamed(self, line: int, event: Mapping[str, Any], inner: Mapping[str, Any], out: list[Event]) -> None:
        """The provider's own events: only what they tell of usage is not told again by whole messages."""
        aside = event.get("parent_tool_use_id")
        aside = aside if isinstance(aside, str) else ""
        message, delta = inner.get("message"), inner.get("delta")
        if isinstance(message, dict):
            usage, identity = message.get("usage"), message.get("id")
            if isinstance(identity, str) and isinstance(usage, dict):
                self._usages.count(line, identity, usage, message.get("model"), aside, out)
        elif isinstance(delta, dict):
            used = self._usages.of(aside)
            if used is not None:
                if isinstance(usage := inner.get("usage"), dict):
                    used.add(usage)
                self._stop(line, used.message, delta.get("stop_reason"), out)

    # ---- what the program itself says ----
    def _system(self, line: int, event: Mapping[str, Any], out: list[Event]) -> None:
        kind = event.get("subtype")
        if kind == "permission_denied":
            self._denied.add(str(event.get("tool_use_id")))
        elif kind == "api_retry":
            status, error = event.get("error_status"), event.get("error")
            said = f"status {status}" if status is not None else "no connection"
            out.append(Limit("retry", f"{said}: {error}" if isinstance(error, str) else said, line))
        elif kind == "compact_boundary":
            told = event.get("compact_metadata", event.get("compactMetadata"))
            trigger = told.get("trigger") if isinstance(told, dict) else None
            out.append(Compacted(trigger if isinstance(trigger, str) else "", line))

    def _result_line(self, line: int, event: Mapping[str, Any], out: list[Event]) -> None:
        self._usages.close(out)
        self._denied |= denied_by(event)
        how, said = str(event.get("subtype")), event.get("result")
        if how in _LIMITS:
            out.append(Limit(_LIMITS[how], "", line))
        turns, cost = event.get("num_turns"), event.get("total_cost_usd")
        out.append(Ended(how, event.get("is_error") is True, said if isinstance(said, str) else "",
                         turns if isinstance(turns, int) else None,
                         float(cost) if isinstance(cost, int | float) else None, told_tokens(event), line))


def tool_of(name: str) -> Tool:
    """What one of Claude Code's tools is called for all agents."""
    return "mcp" if name.startswith("mcp__") else _TOOLS.get(name, "other")


def denied_by(event: Mapping[str, Any]) -> set[str]:
    """The calls that a result line names as denied."""
    denials = event.get("permission_denials")
    return {str(denial.get("tool_use_id")) for denial in (denials if isinstance(denials, list) else ())
            if isinstance(denial, dict)}


def _text(content: object) -> str:
    """The text of a tool's result, or of a message; of what is no text, what it is."""
    if isinstance(content, list):
        return "\n".join(_block_text(block) for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""


def _block_text(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else f"[{str(block.get('type'))[:40]}]"
