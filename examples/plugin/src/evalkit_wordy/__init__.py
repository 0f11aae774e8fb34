"""An agent that writes what it is told, and a grader that counts words."""
