"""Gaussian processes: the kernel recursive least-squares tracker."""
