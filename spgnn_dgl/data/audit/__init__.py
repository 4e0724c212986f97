"""What to know of a dataset before believing a number measured on it."""
