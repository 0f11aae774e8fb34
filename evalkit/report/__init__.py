"""Verdicts -> results: the record of a trial, the summary of a run, the table on the screen."""
