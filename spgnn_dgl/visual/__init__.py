"""Pictures: what a model pooled, which patterns it looks for, and a page to browse both."""
