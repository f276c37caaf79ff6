"""The mechanical content of a model on the graph: motion of frames, energies, forces, charts of the velocities."""
