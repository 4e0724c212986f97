"""What kernels and embeddings count: colours, words, paths and receptive fields of graphs."""
