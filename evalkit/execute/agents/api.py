"""The agent `api`: one request to a model that has no tools and sees no files; its answer is one file.

The system prompt is the case's contract and its guidance, without the sections that its arm leaves out: the texts
alone, with a blank line between them, and nothing where there are none. The user's message is the prompt, with the
suffix. The answer in the reply (fences.py) is written to the case's `answer`; a case without one has its reply in the
transcript alone. A refusal is an answer of the model's: there is no file, and the checks judge that.
"""

from __future__ import annotations

import math
from pathlib import Path

import orjson
from attrs import field, frozen

from evalkit.analysis.guidance import without_sections
from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.conversation import Conversation, prompt_of
from evalkit.execute.agents.fences import answer_in
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.models.chat import Chat, Reply, UserTurn
from evalkit.execute.models.client import TimeUp, language
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.outcome import Ending
from evalkit.execute.overlay import lay_over
from evalkit.execute.transcripts import Message, Writer
from evalkit.plan.trials import AgentTraits

__all__ = ["OneRequest", "make"]

_TRAITS = AgentTraits("1", frozenset({"prompt", "model", "time", "spending"}), sampled=True, builds=False)


def make(wanted: Wanted) -> OneRequest:
    return OneRequest(wanted.endpoint)


@frozen
class OneRequest:
    """The agent `api`."""

    endpoint: Endpoint | None = field(repr=False)
    traits: AgentTraits = _TRAITS
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        anthropic = self.endpoint is not None and self.endpoint.protocol == "anthropic"
        asked = {"`skills`": unit.setup.skills, "`mcp`": unit.agent.mcp,
                 "`seed` (the Messages API has none)": anthropic and unit.agent.seed is not None}
        return [name for name, given in asked.items() if given]

    # ---- what is asked ----
    def _chat(self, job: Job) -> Chat:
        case, model = job.trial.case, job.trial.subject.model or ""
        return Chat(model, (UserTurn(prompt_of(case)),), _system(job.root, case), longest=_longest(job, model),
                    temperature=case.agent.temperature, seed=case.agent.seed)

    def describe(self, job: Job) -> str:
        chat = self._chat(job)
        endpoint = job.endpoint or self.endpoint
        if endpoint is None:
            return "\n".join([f"one request to {chat.model} (no key for it is set)", "", "system prompt:", chat.system,
                              "", "prompt:", prompt_of(job.trial.case)])
        request = language(endpoint.protocol).encode(chat, endpoint)
        headers = dict.fromkeys(endpoint.headers(), f"[{endpoint.variable} redacted]") | dict(request.headers)
        body = orjson.dumps(request.body, option=orjson.OPT_INDENT_2).decode()
        lines = [f"POST {endpoint.shown}{request.path}", *(f"{name}: {text}" for name, text in headers.items())]
        return "\n".join([*lines, "", body])

    # ---- a run ----
    def run(self, job: Job) -> Ending:
        endpoint = job.endpoint or self.endpoint
        if endpoint is None:
            raise missing_key("agent=api", job.trial.subject.model)
        chat = self._chat(job)
        with job.transcript.open("wb") as sink:
            writer = Writer(sink, job.redactor, "api")
            if chat.system:
                writer.write(Message("system", chat.system))
            writer.write(Message("user", prompt_of(job.trial.case)))
            talk = Conversation(job, endpoint, writer)
            try:
                reply = talk.ask(chat)
            except TimeUp:
                return talk.timed_out()
            return self._answered(talk, reply)

    def _answered(self, talk: Conversation, reply: Reply) -> Ending:
        talk.notes += _odd(reply)
        if reply.stop != "refusal":
            talk.notes += _write_answer(talk.job, reply.text)
        else:
            _no_answer(talk.job)
        if over := talk.passed():
            return talk.ended("capped", over[1], over[0])
        if reply.stop == "length":
            return talk.ended("capped", "its answer reached the length that it may have", "tokens")
        return talk.ended("completed", "the model refused to answer" if reply.stop == "refusal" else "answered")


def _system(root: Path, case: Case) -> str:
    """The system prompt. Raises UserError where a document cannot be read."""
    setup = case.setup
    documents = [] if setup.contract is None else [_document(root, setup.contract)]
    documents += [without_sections(_document(root, guidance.path), guidance.without) for guidance in setup.guidance]
    return "\n\n".join(text.strip() for text in documents if text.strip())


def _document(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}", hint="is it still there?") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", hint="save it as UTF-8") from None


def _longest(job: Job, model: str) -> int | None:
    """The most tokens that the case's limits leave for the answer; None where they leave it open."""
    limits, price = job.trial.case.limits, job.prices.of(model)
    found = [] if limits.tokens is None else [limits.tokens]
    if limits.cost is not None and price is not None and price.output > 0:
        found.append(max(1, math.floor(limits.cost / price.output * 1_000_000)))
    return min(found, default=None)


def _odd(reply: Reply) -> list[str]:
    if reply.stop == "refusal":
        return [f"refused: {reply.detail[:200]}"]
    return [f"it stopped otherwise than models do: {reply.detail[:200]}"] if reply.stop in ("other", "tools") else []


def _write_answer(job: Job, reply: str) -> list[str]:
    """Write the answer into the workspace; what there is to say of it."""
    file = job.trial.case.setup.answer
    if file is None:
        return ["the case names no `answer`: the reply is in the transcript alone"]
    answer = answer_in(reply, file)
    if answer.text:
        laid = job.home / "answer"  # laid over the workspace as a reference answer is: never through a link
        (laid / file).parent.mkdir(parents=True)
        (laid / file).write_text(answer.text, encoding="utf-8", errors="replace", newline="")
        lay_over(laid, job.workspace)
    else:
        _no_answer(job)
    return list(answer.notes)


def _no_answer(job: Job) -> None:
    """What a template has in the answer's place is none of the model's, and would be graded as if it were."""
    if (file := job.trial.case.setup.answer) is not None:
        place = job.workspace / file
        inside = not any(folder.is_symlink() for folder in place.parents if folder.is_relative_to(job.workspace))
        if inside and (place.is_symlink() or place.is_file()):
            place.unlink()
