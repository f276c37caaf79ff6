"""CasADi graphs: lowering from SymPy, raising back, solving, kinks. Knows no mechanics."""
