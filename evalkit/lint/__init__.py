"""Compiled cases -> what is doubtful about them. Runs nothing of a case, and no model.

A compiled case means something; the rules ask whether it measures what it seems to. `lint` is the stage: it runs the
rules (rules.py), leaves out what an `allow` silences (silence.py), and returns the findings.
"""

from evalkit.lint.finding import Finding
from evalkit.lint.rules import lint
from evalkit.lint.subject import Subject

__all__ = ["Finding", "Subject", "lint"]
