"""How functions become machine code."""
