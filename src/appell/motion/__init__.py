"""From a system to a motion: integrators, events, projection, checks."""
