"""Uploads a run to Braintrust: one experiment for a run, one row for a trial (upload_rows.py).

The SDK runs in a process of its own (upload_child.py), in an empty folder, with the key on its standard input and not
in its environment or arguments. What it prints is shown redacted, and only where it failed. The hosts that are asked
are the app's (BRAINTRUST_APP_URL) and the API's: BRAINTRUST_API_URL, else the address that the app names when one signs
in, which has to be of the app's own domain.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evalkit
from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.execute.secrets import Redactor
from evalkit.report.upload_rows import experiment_of

__all__ = ["KEY_VARIABLE", "upload_run"]

KEY_VARIABLE = "BRAINTRUST_API_KEY"
APP_URL = "https://www.braintrust.dev"
_LIMIT = 600
"""Seconds for all of an upload."""
_PASSED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy",
           "https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
           "CURL_CA_BUNDLE", "BRAINTRUST_ORG_NAME", "BRAINTRUST_API_URL", "BRAINTRUST_HTTP_TIMEOUT",
           "BRAINTRUST_NUM_RETRIES", "BRAINTRUST_MAX_REQUEST_SIZE", "VIRTUAL_ENV")


def upload_run(root: Path, run: str, environ: Mapping[str, str], *, project: str | None = None,
               secrets: tuple[str, ...] = ()) -> str:
    """Upload all trials of a run; what came of it, in words. project: at Braintrust (default: BRAINTRUST_PROJECT, else
    evalkit). secrets: the names of variables that the person's project calls secret.

    Raises UserError without a key or the SDK, or where the key is refused, HarnessError where the upload failed.
    """
    key = environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise UserError(f"uploading needs a key of Braintrust's, and {KEY_VARIABLE} is not set",
                        hint=f"export {KEY_VARIABLE}=…, then: evalkit upload {run}")
    experiment = experiment_of(root, run)
    redactor = Redactor.of(environ, (KEY_VARIABLE, *secrets))
    app = (environ.get("BRAINTRUST_APP_URL", "").strip() or APP_URL).rstrip("/")
    asked = {"app": app, "api": environ.get("BRAINTRUST_API_URL", "").strip() or None,
             "project": project or environ.get("BRAINTRUST_PROJECT", "").strip() or "evalkit",
             "experiment": experiment.name, "metadata": experiment.metadata, "rows": experiment.rows}
    # Redacted as a whole; the key itself is added after.
    said = _ask(redactor.plain_data(asked) | {"key": key}, environ, redactor)
    if "error" in said:
        raise _failed(said["kind"], redactor.text(said["error"]).strip(), app, run)
    return (f"uploaded {said['sent']} trial{'s' if said['sent'] > 1 else ''} of run `{run}` to Braintrust: project "
            f"`{asked['project']}`, experiment `{said['name']}`")


def _ask(asked: Mapping[str, Any], environ: Mapping[str, str], redactor: Redactor) -> dict[str, Any]:
    """What the uploading process answers."""
    with tempfile.TemporaryDirectory(prefix="evalkit-upload-") as folder:
        env = {name: environ[name] for name in _PASSED if environ.get(name)}
        spared = [environ.get("NO_PROXY") or environ.get("no_proxy") or "", "localhost,127.0.0.1,::1"]
        env |= dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(filter(None, spared)))
        env |= {"HOME": folder, "TMPDIR": folder, "PYTHONPATH": str(Path(evalkit.__file__).parents[1]),
                "BRAINTRUST_SYNC_FLUSH": "1", "BRAINTRUST_DISABLE_ATEXIT_FLUSH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run([sys.executable, "-m", "evalkit.report.upload_child"], input=json.dumps(asked),
                                  cwd=folder, env=env, capture_output=True, text=True, timeout=_LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return {"kind": "failed", "error": f"it did not end within {_LIMIT // 60} minutes"}
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = redactor.text(done.stderr).strip().splitlines()[-1:]
        return {"kind": "failed", "error": f"exit status {done.returncode}" + "".join(f": {line}" for line in last)}
    return found


def _failed(kind: str, said: str, app: str, run: str) -> EvalkitError:
    said = "\n".join(said.splitlines()[:6])[:1_000]
    if kind == "missing":
        return UserError(f"uploading needs Braintrust's SDK, which cannot be imported: {said}",
                         hint="pip install 'evalkit[braintrust]' has it")
    if kind == "refused":
        return UserError(f"{app} did not let us in: {said}",
                         hint=f"is {KEY_VARIABLE} right, and BRAINTRUST_ORG_NAME, where it is set?")
    if kind == "address":
        return UserError(f"{app} says that rows go to {said}, which is another's address: nothing was sent there",
                         hint=f"if that is right: export BRAINTRUST_API_URL={said}")
    return HarnessError(f"the upload failed: {said}", hint=f"again, nothing is doubled: evalkit upload {run}")
