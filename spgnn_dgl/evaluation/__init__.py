"""Cross-validation of any method: protocols, units of work, metrics, statistics, warnings.

Knows methods by `fit` and `predict_proba` only.
"""
