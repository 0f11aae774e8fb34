"""What is wrong in a case file, as data; and how it is shown."""

from evalkit.diagnostics.diagnostic import CaseErrors, Diagnostic, Severity, Span
from evalkit.diagnostics.snippet import render, render_all
from evalkit.diagnostics.suggest import did_you_mean

__all__ = ["CaseErrors", "Diagnostic", "Severity", "Span", "did_you_mean", "render", "render_all"]
