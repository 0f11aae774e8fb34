"""Everything -> doit. The only package that touches doit; its quirks end here."""
