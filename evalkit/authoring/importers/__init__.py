"""Turns sets of cases in other formats into `.eval` files: one module a format, a shared reader, writer and report."""
