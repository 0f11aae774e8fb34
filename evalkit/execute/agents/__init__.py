"""Agents: one file each. Nothing but an agent's own file knows what it is."""

from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.agents.registry import Agents

__all__ = ["Agent", "Agents", "Job"]
