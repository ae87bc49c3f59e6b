"""Features for linear models, and linear models over them: Fourier, Nystroem, sketches."""
