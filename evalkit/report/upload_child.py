"""The process that uploads: it alone imports the SDK, which starts threads, reads dotenv files and talks on its own.

It reads a JSON object from standard input (key, app, api, project, experiment, metadata, rows; app: where one signs in,
api: where rows go, None for what the app names) and writes one to standard output: `{"sent": N, "name": …}`, or
`{"error": …, "kind": "missing" | "address" | "refused" | "failed"}`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

__all__ = ["may_ask"]


def may_ask(app: str, api: str) -> bool:
    """Whether an address that the app names is the app's own: its host, or one below the same domain, as safe as it."""
    mine, named = urlsplit(app), urlsplit(api)
    if named.scheme not in ("http", "https") or (mine.scheme == "https") > (named.scheme == "https"):
        return False
    here, there = mine.hostname or "", named.hostname or ""
    domain = here.partition(".")[2]
    return there == here or ("." in domain and not domain.replace(".", "").isdigit() and there.endswith(f".{domain}"))


def _upload(asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        # Its name is a variable for the type checker: the SDK is an extra.
        sdk: Any = import_module("braintrust")
        git: Any = import_module("braintrust.git_fields")
    except ImportError as error:
        return {"kind": "missing", "error": str(error)}
    try:
        state = sdk.login_to_state(app_url=asked["app"], api_key=asked["key"])
    except ValueError as error:
        return {"kind": "refused", "error": str(error)}
    if not asked["api"] and not may_ask(asked["app"], str(state.api_url)):
        return {"kind": "address", "error": str(state.api_url)}
    experiment = sdk.init(project=asked["project"], experiment=asked["experiment"], metadata=asked["metadata"],
                          update=True, set_current=False, state=state,
                          git_metadata_settings=git.GitMetadataSettings(collect="none"))
    name = str(experiment.name)  # the first thing that asks for it
    for row in asked["rows"]:
        experiment.log(**row)
    experiment.flush()
    return {"sent": len(asked["rows"]), "name": name}


def main() -> None:
    """Upload what standard input holds."""
    asked = json.load(sys.stdin)
    answer, sys.stdout = sys.stdout, sys.stderr  # what the SDK says is no answer
    try:
        said = _upload(asked)
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises is told by who started this
        while isinstance(error, BaseExceptionGroup) and isinstance(error.exceptions[0], Exception):
            error = error.exceptions[0]
        said = {"kind": "failed", "error": f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(said))
    answer.flush()
    os._exit(0)  # its threads, and what it would send at the end, are of no use any more


if __name__ == "__main__":
    main()
