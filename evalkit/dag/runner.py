"""doit's runner with pools: what waits for models or commands works in threads, everything else in the main thread.

A task's `meta["pool"]` tells its pool when it is about to run; a pool has so many places (ninja's idea). A task without
one, or which has next to nothing to do this time, is quick and runs inline. The main thread alone asks doit's
dispatcher, checks what is up to date, and writes the state: of each task at once when it has finished, so that a kill
loses what is in flight and nothing else. A thread only works, and puts its outcome into a queue. (doit's own thread
runner swaps sys.stdout around every action, and writes state when all is over.)

Interrupted (Ctrl-C, or a request to end): children are ended, nothing new starts, and what finishes within a moment is
still recorded. Where the main thread cannot go on (a full disk, tasks that wait for each other), what runs may finish,
since it may have cost money: then the error is told.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any

from doit.action import CmdAction
from doit.control import TaskControl, TaskDispatcher
from doit.dependency import DatabaseException
from doit.exceptions import DependencyError, InvalidDodoFile, TaskError
from doit.runner import Runner
from doit.task import Stream

from evalkit.dag.progress import Reporter
from evalkit.execute.marks import descendants, end_descendants
from evalkit.execute.running import end_all
from evalkit.values import State, field

__all__ = ["PoolRunner", "dispatcher"]

_LOOK_UP = 0.5
"""Seconds that the main thread waits without looking whether it was interrupted."""
_LAST_MOMENT = 5.0
"""Seconds that threads get to finish once their children were ended."""


class _Pool(State):
    places: int
    at_work: int = 0
    waiting: deque[Any] = field(factory=deque)


class PoolRunner(Runner):  # type: ignore[misc]
    """Runs what the dispatcher gives; `pools`: places by the pool's name. at_end: see engine.run_tasks."""

    def __init__(self, state: Any, reporter: Reporter, pools: Mapping[str, int], *,
                 at_end: Callable[[Reporter], None] = lambda _: None, always: bool = False,
                 stream: Stream | None = None) -> None:
        super().__init__(state, reporter, True, always, stream or Stream(0))
        self._pools = {name: _Pool(places) for name, places in pools.items()}
        self._finished: SimpleQueue[tuple[Any, str, Any]] = SimpleQueue()
        self._at_work = 0
        self._at_end = at_end
        self._broken: Exception | None = None

    # ---- doit's own steps, changed ----
    def _handle_task_error(self, node: Any, base_fail: Any) -> None:
        """doit deletes what it knows of a task that failed, and of every task behind it: a mistyped pin would have all
        checks graded again once it is corrected. What is known is the inputs of the last success; they are as true as
        before.
        """
        forget, self.dep_manager.remove_success = self.dep_manager.remove_success, lambda task: None
        try:
            super()._handle_task_error(node, base_fail)
        finally:
            self.dep_manager.remove_success = forget

    def run_tasks(self, task_dispatcher: Any) -> None:
        """Run all that has to run. Raises, once nothing is at work, whatever kept it from going on: DatabaseException
        where the state is broken, InvalidDodoFile where tasks need each other in a circle.
        """
        try:
            try:
                self._dispatch(task_dispatcher)
            except Exception as error:  # noqa: BLE001 - raised below
                self._broken = self._broken or error
            while self._at_work:  # whatever waits for them is told by the dispatcher, so here nothing does
                self._collect()
        except BaseException:
            end_all()
            self._last_moment()
            raise
        if self._broken is not None:
            raise self._broken
        self._at_end(self.reporter)

    def _dispatch(self, dispatcher: Any) -> None:
        node = None
        while self._broken is None:
            try:
                node = dispatcher.generator.send(node)
            except StopIteration:
                break
            if node == "hold on":
                if not self._at_work:
                    raise InvalidDodoFile("tasks wait for each other in a circle")
                node = self._collect()
                continue
            if self._select(node, dispatcher.tasks):
                name = _pool_of(node.task)
                if name is None:
                    self._settle(node, self.execute_task(node.task))
                else:
                    self._pools[name].waiting.append((node, name))
                    self._start(self._pools[name])
                    node = None
            self._collect_finished(dispatcher)

    def _select(self, node: Any, tasks: Any) -> bool:
        """Whether a task is to run. Where one of the person's own cannot even tell, it has failed, and no other."""
        try:
            return bool(self.select_task(node, tasks))
        except DatabaseException:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the person's own code raises
            self._handle_task_error(node, DependencyError("cannot tell whether it is up to date", error))
            return False

    # ---- pools ----
    def _start(self, pool: _Pool) -> None:
        while pool.waiting and pool.at_work < pool.places and self._broken is None:
            node, name = pool.waiting.popleft()
            pool.at_work += 1
            self._at_work += 1
            self.reporter.execute_task(node.task)
            # A daemon: a thread that hangs, whatever in, must not keep the process from ending.
            threading.Thread(target=self._work, args=(node, name), name=node.task.name, daemon=True).start()

    def _work(self, node: Any, pool: str) -> None:
        failed: Any = None
        try:
            with self.reporter.progress.at_work(node.task.name):
                failed = node.task.execute(self.stream)
        except BaseException as error:  # noqa: BLE001 - a thread must not end without a word
            failed = TaskError(f"{node.task.name} could not be run", error)
        finally:
            self._finished.put((node, pool, failed))

    def _collect(self) -> Any:
        """Wait for a task that is at work, and settle it; its node."""
        while True:
            # A signal that comes right before a thread begins to wait does not end the waiting: look up now and then.
            with contextlib.suppress(Empty):
                node, pool, failed = self._finished.get(timeout=_LOOK_UP)
                break
        self._take(node, pool, failed)
        return node

    def _collect_finished(self, dispatcher: Any) -> None:
        """Settle what has finished meanwhile, and tell the dispatcher of it."""
        while True:
            try:
                node, pool, failed = self._finished.get_nowait()
            except Empty:
                return
            self._take(node, pool, failed)
            dispatcher._update_waiting(node)

    def _take(self, node: Any, name: str, failed: Any) -> None:
        pool = self._pools[name]
        pool.at_work -= 1
        self._at_work -= 1
        self._settle(node, failed)
        self._start(pool)

    def _settle(self, node: Any, failed: Any) -> None:
        try:
            self.process_task_result(node, failed)
        except DatabaseException as error:
            self._broken = self._broken or error
            node.run_status = "failure"
        except Exception as error:  # noqa: BLE001 - one of the person's own: a file it may not read, values of its kind
            self.dep_manager.backend.undo(node.task.name)
            self._handle_task_error(node, DependencyError(f"what it came to cannot be kept: {error}"))

    def _last_moment(self) -> None:
        """Record what has finished although the run was stopped; what was ended has failed, and is not told."""
        until = time.monotonic() + _LAST_MOMENT
        while self._at_work and (left := until - time.monotonic()) > 0:
            try:
                node, _, failed = self._finished.get(timeout=left)
            except Empty:
                return
            self._at_work -= 1
            if failed is None:
                with contextlib.suppress(DatabaseException):
                    self.process_task_result(node, failed)

    def execute_task(self, task: Any) -> Any:
        """Run a task's actions here."""
        if task.teardown:
            self.teardown_list.append(task)
        self.reporter.execute_task(task)
        before = descendants() if any(isinstance(action, CmdAction) for action in task.actions) else None
        try:
            with self.reporter.progress.at_work(task.name):
                return task.execute(self.stream)
        except BaseException:
            if before is not None:  # doit leaves its commands behind, and waits for them in the end
                end_all()  # first: what is ours was ended then, and did not fail
                end_descendants(before)
            raise


def _pool_of(task: Any) -> str | None:
    """The pool of a task; None: it runs inline. What a person's own task means by `meta` is no matter of ours."""
    pool = (task.meta or {}).get("pool")
    return pool() if callable(pool) else None


# ---- the order ----
def dispatcher(control: TaskControl) -> TaskDispatcher:
    """What gives the tasks of a selection to a runner, in a fixed order."""
    return _InOrder(control.tasks, control.targets, control.selected_tasks)


class _InOrder(TaskDispatcher):  # type: ignore[misc]
    """doit's dispatcher, but tasks that wait for one task get ready in the order in which they began to wait.

    doit keeps them in a set: which of a run's trials came first, and which were left when the budget was reached, would
    differ from run to run. And what gets ready comes before what was ready: a trial goes on to its end where it can, so
    that the first agent waits for its own workspace alone, results come early, and little is held at a time.
    """

    def _gen_node(self, parent: Any, task_name: str) -> Any:
        node = super()._gen_node(parent, task_name)
        if node is not None:
            node.waiting_me = _Waiting()
        return node

    def _update_waiting(self, processed: Any) -> None:
        before = len(self.ready)
        super()._update_waiting(processed)
        self.ready.extendleft([self.ready.pop() for _ in range(len(self.ready) - before)])


class _Waiting(dict[Any, None]):
    """What of a set the dispatcher uses, in the order of insertion."""

    def add(self, node: Any) -> None:
        self[node] = None
