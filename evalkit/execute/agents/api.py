"""The agent `api`: one request to a model that has no tools and sees no files; its answer is one file.

The system prompt is the case's contract and its guidance, without the sections that its arm leaves out: the texts
alone, with a blank line between them, and nothing where there are none. The user's message is the prompt, with the
suffix. The answer in the reply (fences.py) is written to the case's `answer`; a case without one has its reply in the
transcript alone. A refusal is an answer of the model's: nothing is written, and the checks judge that.

What passes by itself is asked again, by evalkit's own gateway where that is between, else by the client. An answer
that was lost on the way is not: it may have been paid for, so it is a failed attempt of its own, at a cost that nobody
knows.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import orjson
from attrs import evolve, field, frozen

from evalkit.analysis.guidance import without_sections
from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.fences import answer_in
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.attended import attended
from evalkit.execute.budget import dollars
from evalkit.execute.models.chat import Chat, Reply, UserTurn
from evalkit.execute.models.client import POLICY, Answer, ProviderError, TimeUp, complete, language
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.overlay import lay_over
from evalkit.execute.retry import RetryPolicy
from evalkit.execute.transcripts import Ended, Limit, LimitKind, Message, MessageUsage, Writer
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
        return Chat(model, (UserTurn(_prompt(case)),), _system(job.root, case), longest=_longest(job, model),
                    temperature=case.agent.temperature, seed=case.agent.seed)

    def describe(self, job: Job) -> str:
        chat = self._chat(job)
        endpoint = job.endpoint or self.endpoint
        if endpoint is None:
            return "\n".join([f"one request to {chat.model} (no key for it is set)", "", "system prompt:", chat.system,
                              "", "prompt:", _prompt(job.trial.case)])
        request = language(endpoint.protocol).encode(chat, endpoint)
        headers = dict.fromkeys(endpoint.headers(), f"[{endpoint.variable} redacted]") | dict(request.headers)
        body = orjson.dumps(request.body, option=orjson.OPT_INDENT_2).decode()
        lines = [f"POST {endpoint.shown}{request.path}", *(f"{name}: {text}" for name, text in headers.items())]
        return "\n".join([*lines, "", body])

    # ---- a run ----
    def run(self, job: Job) -> Ending:
        endpoint, model, limits = job.endpoint or self.endpoint, job.trial.subject.model, job.trial.case.limits
        if endpoint is None:
            raise missing_key("agent=api", model)
        chat = self._chat(job)
        with job.transcript.open("wb") as sink:
            writer = Writer(sink, job.redactor, "api")
            if chat.system:
                writer.write(Message("system", chat.system))
            writer.write(Message("user", _prompt(job.trial.case)))
            try:
                answer = attended(lambda: complete(endpoint, chat, policy=_policy(job), limit=float(limits.time),
                                                   again_if_lost=False), job.tick)
            except TimeUp as error:
                return _ended(writer, "timeout", f"ended after its {limits.time} s", Usage(), limit="time",
                              notes=_retried(error.retries), retries=error.retries)
            except ProviderError as error:
                nothing = Usage(turns=0, cost=0.0) if not error.lost else Usage()
                raise AgentError(error.message, hint=error.hint, transient=error.transient, retry_after=error.wait,
                                 usage=nothing) from error
            except UserError:
                raise
            except HarnessError as error:  # all is being stopped: what was asked for may have been paid for
                raise AgentError(error.message, hint=error.hint, usage=Usage()) from error
            return self._answered(job, writer, answer)

    def _answered(self, job: Job, writer: Writer, answer: Answer) -> Ending:
        case, reply = job.trial.case, answer.reply
        usage = evolve(job.prices.priced(job.trial.subject.model, reply.usage), turns=1)
        writer.write(Message("assistant", reply.text, id="1"))
        writer.write(MessageUsage("1", usage.input_tokens or 0, usage.output_tokens or 0, usage.cache_read_tokens or 0,
                                  usage.cache_write_tokens or 0, model=reply.model, cost=usage.cost),
                     raw=reply.response)
        notes = [*_retried(answer.retries), *answer.notes, *_odd(reply)]
        if reply.stop != "refusal":
            notes += _write_answer(job, reply.text)
        notes = [job.redactor.text(note) for note in notes]
        if case.limits.cost is not None and usage.cost is None:
            notes.append("what the answer cost is not known, so its cost limit was not looked at")
        over = _over(case, reply, usage)
        if over is not None:
            return _ended(writer, "capped", over[1], usage, limit=over[0], notes=notes, retries=answer.retries)
        said = "the model refused to answer" if reply.stop == "refusal" else "answered"
        return _ended(writer, "completed", said, usage, notes=notes, retries=answer.retries)


def _policy(job: Job) -> RetryPolicy:
    """Evalkit's own gateway asks again itself."""
    return POLICY if job.endpoint is None else evolve(POLICY, retries=0)


def _prompt(case: Case) -> str:
    return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip())


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


def _over(case: Case, reply: Reply, usage: Usage) -> tuple[LimitKind, str] | None:
    """The limit that the answer came to, if any."""
    limits = case.limits
    tokens = sum(count or 0 for count in (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                                          usage.cache_write_tokens))
    if limits.cost is not None and (usage.cost or 0.0) > limits.cost:
        return "cost", f"reached its cost limit of {dollars(limits.cost)}"
    if limits.tokens is not None and tokens > limits.tokens:
        return "tokens", f"reached its limit of {limits.tokens} tokens"
    if reply.stop == "length":
        return "tokens", "its answer reached the length that it may have"
    return None


def _odd(reply: Reply) -> list[str]:
    if reply.stop == "refusal":
        return [f"refused: {reply.detail[:200]}"]
    return [f"it stopped otherwise than models do: {reply.detail[:200]}"] if reply.stop in ("other", "tools") else []


def _retried(retries: int) -> list[str]:
    return [f"the provider was asked again {retries} time{'s' if retries > 1 else ''}"] if retries else []


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
    return list(answer.notes)


def _ended(writer: Writer, status: Literal["completed", "capped", "timeout"], detail: str, usage: Usage, *,
           limit: LimitKind | None = None, notes: list[str], retries: int = 0) -> Ending:
    if limit is not None:
        writer.write(Limit(limit, detail))
    writer.write(Ended(status, text=detail, turns=usage.turns, cost=usage.cost))
    return Ending(status, detail, usage, tuple(notes), retries)
