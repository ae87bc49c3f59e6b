"""What every round begins and ends with: observe, losses, calibration, warnings."""
