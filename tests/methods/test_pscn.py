from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.pscn import Fields, PatchyNet
from tests.conftest import random_dataset

pytest.importorskip("igraph")


def test_the_first_layer_is_a_strided_convolution_of_one_hot_fields() -> None:
    torch.manual_seed(0)
    spec, (B, w, k) = InputSpec(num_codes=5, num_dense=2), (3, 12, 4)
    net = PatchyNet(spec, w, k, num_classes=2, dropout=0.0)
    with torch.no_grad():
        net.bias.normal_()
    codes = torch.randint(0, 6, (B, w, k))  # 5: no node
    dense = torch.randn(B, w, k, 2) * (codes < 5).unsqueeze(-1)
    one_hot = F.one_hot(codes, 6)[..., :5].float()
    sequence = torch.cat([one_hot, dense], dim=-1).reshape(B, w * k, 7).transpose(1, 2)  # (B, 7, w·k)
    kernel = net.weight.permute(2, 1, 0)  # (16, 7, k)
    expected = F.conv1d(sequence, kernel, net.bias, stride=k).transpose(1, 2)
    torch.testing.assert_close(net.first(Fields(codes, dense)), expected)


def test_an_absent_node_adds_nothing() -> None:
    net = PatchyNet(InputSpec(num_codes=3, num_dense=0), 12, 4, num_classes=2, dropout=0.0)
    nobody = torch.full((1, 12, 4), 3)
    torch.testing.assert_close(net.first(Fields(nobody, None)), net.bias.expand(1, 12, -1))


def test_batches_hold_the_codes_of_the_fields(tiny: GraphDataset) -> None:
    method = make_method("pscn", {"epochs": 1, "width": 5, "size": 3}).fit(tiny)
    encoder = method.encoder(tiny)
    batch = encoder.batch(np.array([7, 2]))
    V = method.policy.spec.num_codes
    for row, index in enumerate((7, 2)):
        labels = tiny[index][0].ndata["label"].tolist()
        names = [tiny.meta.node_label_names[label] for label in labels]
        for field, codes in zip(encoder.fields[index], batch.codes[row]):
            expected = [method.policy.vocabulary.index(names[v]) if v >= 0 else V for v in field]
            assert codes.tolist() == expected


def test_the_width_is_the_average_size_of_training_graphs() -> None:
    data = random_dataset(20, max_nodes=15)
    method = make_method("pscn", {"epochs": 1}).fit(data[:12])
    assert method.fitted_options()["width"] == round(float(data[:12].node_counts.mean()))


def test_a_stride_skips_ranks(tiny: GraphDataset) -> None:
    every = make_method("pscn", {"epochs": 1, "width": 5}).fit(tiny).encoder(tiny).fields
    second = make_method("pscn", {"epochs": 1, "width": 3, "stride": 2}).fit(tiny).encoder(tiny).fields
    np.testing.assert_array_equal(second, every[:, ::2])


def test_learns_planted_motifs() -> None:
    data = motifs(num_graphs=150)
    method = make_method("pscn", {"epochs": 30}).fit(data[:120])
    assert (method.predict(data[120:]) == data[120:].labels).mean() > 0.6  # three classes
    assert method.history[-1].loss < method.history[0].loss


@pytest.mark.parametrize("options", [{"width": 0}, {"width": "wide"}, {"stride": 0}, {"size": 0}, {"height": -1}])
def test_wrong_options_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        make_method("pscn", options)
