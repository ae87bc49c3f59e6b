"""The stochastic batch Perceptron on a window of the stream."""
