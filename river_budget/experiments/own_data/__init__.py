"""Files of one's own: what their columns are, a trial of models on their rows, and predictions for others."""
