"""Scalers with the numbers of River's, fed by the dict reader: statistics by place, dicts made by compiled code."""
