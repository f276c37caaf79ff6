"""From equations to functions that run: machines, systems, states, export."""
