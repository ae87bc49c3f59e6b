"""Linear models over features: Fourier, Nystroem, sketches."""
