"""Models: where they are reached, what they are asked and answer, and what that costs."""
