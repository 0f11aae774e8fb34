"""Where the commands of cases, agents and graders run: lanes, and the rooms that they make."""

from evalkit.execute.lanes.base import LANES, Lane, Room
from evalkit.execute.lanes.local import Local, LocalRoom

__all__ = ["LANES", "Lane", "Local", "LocalRoom", "Room"]
