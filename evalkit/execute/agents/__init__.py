"""Agents: one file each. Nothing but an agent's own file knows what it is."""
