"""Feature policies: fitted on training graphs alone, the same rule for every dataset, and through JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from spgnn_dgl.data import features
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import DatasetError, OptionError
from tests.conftest import random_dataset
from tests.data.data_samples import Plain, triangle_and_path


def labelled(*node_labels: list[int], edges=None) -> Plain:
    return Plain(
        [len(labels) for labels in node_labels],
        edges or [[] for _ in node_labels],
        list(range(len(node_labels))),
        list(node_labels),
        None,
        None,
        False,
    )


def codes_of(policy, data) -> list[int]:
    return policy.encoder(data).batch(np.arange(len(data))).ndata["code"].tolist()


def test_labels_unseen_in_training_are_other():
    data = labelled([4, 9], [4, 20], [9, 9]).dataset()
    policy = FeaturePolicy.fit(data.subset([0]))
    assert policy.kind == "labels"
    assert policy.vocabulary == ("4", "9")
    assert policy.spec.num_codes == policy.spec.dim == 3
    assert codes_of(policy, data) == [0, 1, 0, 2, 1, 1]
    np.testing.assert_array_equal(policy.encoder(data).unseen_shares(), [0, 0.5, 0])


def test_labels_are_matched_by_their_values_not_by_their_codes():
    train = labelled([10, 20, 30]).dataset()
    new = labelled([20, 5, 30]).dataset()  # codes 1, 0, 2 there
    policy = FeaturePolicy.fit(train)
    assert codes_of(policy, train) == [0, 1, 2]
    assert codes_of(policy, new) == [1, 3, 2]


STAR = [[(0, 1), (0, 2), (0, 3), (0, 4)], [(0, 1), (1, 2)]]  # degrees 4 1 1 1 1 and 1 2 1


def test_degrees_are_capped_and_unseen_ones_are_other():
    data = labelled([0] * 5, [0] * 3, edges=STAR).dataset()
    all_degrees = FeaturePolicy.fit(data, "degree")
    assert all_degrees.vocabulary == ("1", "2", "4")
    assert codes_of(all_degrees, data) == [2, 0, 0, 0, 0, 0, 1, 0]
    capped = FeaturePolicy.fit(data, "degree", degree_cap=2)
    assert capped.vocabulary == ("1", "2")
    assert codes_of(capped, data) == [1, 0, 0, 0, 0, 0, 1, 0]
    path_only = FeaturePolicy.fit(data.subset([1]), "degree")
    assert codes_of(path_only, data) == [2, 0, 0, 0, 0, 0, 1, 0]
    np.testing.assert_allclose(path_only.encoder(data).unseen_shares(), [0.2, 0])


def test_degrees_are_those_of_a_plain_count():
    data = labelled([0] * 5, [0] * 3, edges=STAR).dataset()
    policy = FeaturePolicy.fit(data, "degree")
    degrees = np.bincount(np.array(STAR[0] + [(u + 5, v + 5) for u, v in STAR[1]]).ravel())
    assert [policy.vocabulary[c] for c in codes_of(policy, data)] == [str(d) for d in degrees]


def test_attributes_are_standardised_with_the_training_nodes():
    data = triangle_and_path().dataset()
    policy = FeaturePolicy.fit(data.subset([0]), "attributes")
    rows = np.array(triangle_and_path().attributes[0])
    encoded = policy.encoder(data).batch([1]).ndata["x"].numpy()
    expected = (np.array(triangle_and_path().attributes[1]) - rows.mean(0)) / rows.std(0)
    np.testing.assert_allclose(encoded, expected, rtol=1e-5)
    assert (policy.spec.num_codes, policy.spec.num_dense) == (0, 2)


def test_a_constant_attribute_is_only_shifted():
    plain = triangle_and_path()
    plain.attributes = [[[7.0]] * 3, [[7.0]] * 3]
    policy = FeaturePolicy.fit(plain.dataset(), "attributes")
    assert policy.scale == (1.0,)
    assert policy.encoder(plain.dataset()).batch([0]).ndata["x"].abs().max() == 0


def test_labels_and_attributes_together():
    data = triangle_and_path().dataset()
    policy = FeaturePolicy.fit(data, "labels+attributes")
    batch = policy.encoder(data).batch([0, 1])
    assert batch.ndata["code"].tolist() == [0, 0, 1, 1, 0, 0]
    assert batch.ndata["x"].shape == (6, 2)
    assert policy.spec.dim == 3 + 2


def test_constant_features():
    data = triangle_and_path().dataset()
    policy = FeaturePolicy.fit(data, "constant")
    assert codes_of(policy, data) == [0] * 6
    assert policy.spec.dim == 1


def test_auto_takes_labels_else_attributes_else_degrees():
    plain = triangle_and_path()
    assert FeaturePolicy.fit(plain.dataset()).kind == "labels"
    plain.node_labels = None
    assert FeaturePolicy.fit(plain.dataset()).kind == "attributes"
    plain.attributes = None
    assert FeaturePolicy.fit(plain.dataset()).kind == "degree"


@pytest.mark.parametrize("kind", ["labels", "degree", "attributes", "labels+attributes", "constant"])
def test_a_policy_survives_json(kind):
    data = triangle_and_path().dataset()
    policy = FeaturePolicy.fit(data, kind, degree_cap=1 if kind == "degree" else None)
    again = FeaturePolicy.from_json(json.loads(json.dumps(policy.to_json())))
    assert again == policy
    before, after = policy.encoder(data).batch([0, 1]), again.encoder(data).batch([0, 1])
    for field in ("code", "x"):
        assert (field in before.ndata) == (field in after.ndata)
        if field in before.ndata:
            assert torch.equal(before.ndata[field], after.ndata[field])


def test_what_does_not_fit_is_refused():
    plain = triangle_and_path()
    data = plain.dataset()
    with pytest.raises(OptionError, match=r"unknown features 'labls'. Did you mean 'labels'"):
        FeaturePolicy.fit(data, "labls")
    with pytest.raises(OptionError, match="degree_cap=0"):
        FeaturePolicy.fit(data, "degree", degree_cap=0)
    by_labels, by_attributes = FeaturePolicy.fit(data, "labels"), FeaturePolicy.fit(data, "attributes")
    plain.node_labels = plain.attributes = None
    bare = plain.dataset()
    for kind in ("labels", "attributes", "labels+attributes"):
        with pytest.raises(OptionError, match="have no"):
            FeaturePolicy.fit(bare, kind)
    with pytest.raises(DatasetError, match="reads node labels"):
        by_labels.encoder(bare)
    with pytest.raises(DatasetError, match="reads 2 attributes per node, but plain has 0"):
        by_attributes.encoder(bare)


def test_a_view_of_many_graphs_is_looked_at_in_blocks(monkeypatch):
    data = random_dataset(50, num_labels=30, attributes=2)
    view = data.subset(np.random.default_rng(1).permutation(50)[:23])
    monkeypatch.setattr(features, "GRAPHS", 4)
    offsets = data.arrays.node_offsets
    rows = np.concatenate([np.arange(offsets[g], offsets[g + 1]) for g in view.members])
    labels = sorted(set(data.arrays.node_labels[rows].tolist()))
    policy = FeaturePolicy.fit(view, "labels+attributes")
    assert policy.vocabulary == tuple(data.meta.node_label_names[c] for c in labels)
    np.testing.assert_allclose(policy.mean, data.arrays.node_attributes[rows].mean(axis=0), rtol=1e-5)
    degrees = sorted(set(data.arrays.in_degrees[rows].tolist()))
    assert FeaturePolicy.fit(view, "degree").vocabulary == tuple(map(str, degrees))
