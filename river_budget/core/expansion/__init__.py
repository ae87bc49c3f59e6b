"""The function f(x) = sum_j a_j k(x_j, x): kernel rows, the support, the mean of iterates, scoring."""
