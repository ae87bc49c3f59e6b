"""The compiled layer: functions over one block of memory. Knows no River, no dict, no label."""
