"""Compiled calls: the commands that an agent must call or must not, and the state that they leave."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from evalkit.digest import GROWN
from evalkit.values import Value, field

__all__ = ["AnyOrder", "ArgumentTest", "Call", "CallsSpec", "Either", "Expected", "StateSpec"]


class ArgumentTest(Value):
    """One argument of a call, or one value of the state. `values`, as JSON has them:

    `is`: the value; `one of`: the values it may have; `includes`: those that it has among others; a comparison: the
    number; `in`: the lowest and the highest number; `approx`: a number or a list, and the tolerance; `~`: a regex, its
    flags and, where there is one, an example; `type`: the name of a JSON type; `any`, `absent`: none.

    A `.` in the key leads into an object or a list, where no argument has the whole name: `camera.position.0`.
    """

    key: str
    test: Literal["is", "one of", "in", "type", ">", ">=", "<", "<=", "==", "approx", "~", "includes", "any", "absent"]
    values: tuple[Any, ...] = field(hash=False)


class Call(Value):
    """A command, with tests of some of its arguments. Arguments that have none may be anything, or missing.

    exact: there are no other arguments. succeeds: the application did it. confirmed: it was done with the token that
    an earlier call of the same command was answered with.
    """

    name: str
    arguments: tuple[ArgumentTest, ...] = ()
    origin: str = ""
    exact: bool = field(default=False, metadata=GROWN)
    succeeds: bool = field(default=False, metadata=GROWN)
    confirmed: bool = field(default=False, metadata=GROWN)
    type: Literal["call"] = field(default="call", metadata={**GROWN, "evalkit.implied": True})


class Either(Value):
    """One of the branches, each of them in its order."""

    branches: tuple[tuple[Expected, ...], ...]
    origin: str = ""
    type: Literal["either"] = "either"


class AnyOrder(Value):
    """All items, each another call, in whichever order. An item is a call, or one call of several."""

    items: tuple[Call | Either, ...]
    origin: str = ""
    type: Literal["any order"] = "any order"


Expected: TypeAlias = Call | Either | AnyOrder


class CallsSpec(Value):
    """The commands that an agent calls.

    `sequences`, one for each `expect`: each is a subsequence, in order, of the actual calls. `only`: the numbers, from
    0, of those beside which no other call may have written. `never`: names that no call may have; `never_calls`: calls
    that must not be there.
    """

    sequences: tuple[tuple[Expected, ...], ...]
    never: tuple[str, ...]
    never_calls: tuple[Call, ...] = field(default=(), metadata=GROWN)
    only: tuple[int, ...] = field(default=(), metadata=GROWN)
    type: Literal["calls"] = "calls"


class StateSpec(Value):
    """What the application's state is in the end.

    `entries`: exactly, at least or at most `count` entries of what is at `path` (a list, or an object's values) pass
    all of `where`. `value`: what is at `path` passes the one test of `where`.
    """

    path: str
    what: Literal["entries", "value"]
    bound: Literal["exactly", "at least", "at most"]
    count: int
    where: tuple[ArgumentTest, ...]
    type: Literal["state"] = "state"
