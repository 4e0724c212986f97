"""Stores larger than memory, built part by part."""
