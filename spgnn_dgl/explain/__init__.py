"""What a model looks at: the nodes it pools, the patterns around them, and whether they matter."""
