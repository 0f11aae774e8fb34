"""Compiled cases -> trials, and the named inputs that decide whether a trial's tasks run again. Runs nothing."""
