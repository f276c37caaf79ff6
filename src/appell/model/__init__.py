"""What the user says: symbols, frames, bodies, forces, constraints."""
