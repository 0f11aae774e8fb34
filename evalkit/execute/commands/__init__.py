"""Command layers: the commands of an application, as the agent `tools` calls them, in processes of their own."""

from evalkit.execute.commands.layer import CommandLayer, open_layer

__all__ = ["CommandLayer", "open_layer"]
