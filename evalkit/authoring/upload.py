"""`evalkit upload`: a run's trials as rows of an experiment at Braintrust."""

from __future__ import annotations

import argparse
import os

from evalkit.authoring.project import find_root
from evalkit.errors import Exit
from evalkit.plan.choices import secret_names

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "a run's trials as an experiment at Braintrust"
_EPILOG = """\
examples:
  evalkit upload                        the run `latest`
  evalkit upload sweep --project skill  another run, into the project `skill`
  doit run all upload=braintrust        the same once a run is done; its verdicts stand, whatever comes of it

BRAINTRUST_API_KEY is the key, BRAINTRUST_PROJECT the project (else `evalkit`), BRAINTRUST_ORG_NAME an organization,
BRAINTRUST_APP_URL and BRAINTRUST_API_URL other addresses. A trial is one row, however often it is uploaded.
Needs the extra evalkit[braintrust].
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help="default: latest")
    parser.add_argument("--project", metavar="NAME", help="the project at Braintrust")


def main(options: argparse.Namespace) -> int:
    """Upload, and say what was. Raises `UserError` or `HarnessError` where it could not be."""
    from evalkit.report.upload import upload_run

    root = find_root()
    print(upload_run(root, options.run, os.environ, project=options.project, secrets=secret_names(root)))
    return Exit.OK
