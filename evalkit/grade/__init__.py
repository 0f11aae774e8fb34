"""Final trees -> verdicts, one file a grader. A failing grade is data; an error: the harness could not tell."""
