"""The function f(x) = sum_j a_j k(x_j, x): examples, kernel rows, the support, scoring."""
