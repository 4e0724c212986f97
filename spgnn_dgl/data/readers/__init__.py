"""The forms in which datasets are found: text files of several kinds, and graphs in memory."""
