"""The page in a real browser: clicked, slid, pointed at, and compared with what Python says."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.explain.subject import Part, Subject
from spgnn_dgl.visual.page import MAX_BYTES, write_page
from tests.explained import complete, dataset, motif_subject, path, star

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1300,1000",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    return write_page(motif_subject(), tmp_path_factory.mktemp("page") / "page.html")


class Page:
    """What a user does on the page, and what the user sees."""

    def __init__(self, browser, file):
        self.browser = browser
        browser.get("about:blank")  # a new document, whatever the address was
        browser.get(f"file://{file}")
        assert browser.execute_script("return document.body.dataset.ready") == "yes"

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def choose(self, name, value):
        from selenium.webdriver.support.ui import Select

        Select(self.one(f"#{name}")).select_by_value(str(value))

    def slide(self, name, value):
        """Move a slider with the arrow keys, as a user without a mouse does."""
        from selenium.webdriver.common.keys import Keys

        slider = self.one(f"#{name}")
        steps = value - int(slider.get_property("value"))
        slider.send_keys(*[Keys.ARROW_RIGHT if steps > 0 else Keys.ARROW_LEFT] * abs(steps))
        assert int(slider.get_property("value")) == value

    def marked(self):
        return sorted(int(circle.get_attribute("data-node")) for circle in self.all("circle.node.marked"))

    def problems(self):
        return [entry for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


@pytest.fixture
def page(browser, page_file):
    opened = Page(browser, page_file)
    yield opened
    assert opened.problems() == []


@pytest.fixture(scope="module")
def facts():
    """Per graph what the page must show: pooled nodes, probabilities, class."""
    subject = motif_subject()
    rows = zip(subject.graphs.tolist(), subject.pooled(), subject.probabilities(), subject.labels.tolist())
    return {graph: (pooled, probabilities, label) for graph, pooled, probabilities, label in rows}


def test_it_opens_without_the_network(page, facts):
    assert page.browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert page.one("#title").text == "spgnn on MOTIFS: what was pooled"
    right = np.mean([p.argmax() == label for _, p, label in facts.values()])
    assert f"15 graphs, {100 * right:.1f} % predicted rightly" in page.one("#summary").text
    assert "not trained on it" in page.one("#summary").text


def test_class_and_outcome_choose_graphs(page, facts):
    for value, wanted in (("all", {0, 1, 2}), ("2", {2})):
        page.choose("class", value)
        for outcome in ("all", "right", "wrong"):
            page.choose("outcome", outcome)
            expected = [
                graph
                for graph, (_, p, label) in sorted(facts.items())
                if label in wanted and (outcome == "all" or (p.argmax() == label) == (outcome == "right"))
            ]
            listed = [int(option.text.split(":")[0]) for option in page.all("#graph option")]
            assert listed == expected
            if not expected:
                assert page.one("#count").text == "no graph is like this"


def test_buttons_and_keys_go_through_the_graphs(page, facts):
    from selenium.webdriver.common.keys import Keys

    graphs = sorted(facts)

    def shown():
        return graphs[int(page.one("#graph").get_property("value"))]

    assert shown() == graphs[0]
    page.one("#next").click()
    assert shown() == graphs[1]
    page.one("#previous").click()
    page.one("#previous").click()
    assert shown() == graphs[-1]
    page.one("#drawing").send_keys("n")
    assert shown() == graphs[0]
    page.one("#drawing").send_keys("p", Keys.NULL)
    assert shown() == graphs[-1]
    assert f"graph={graphs[-1]}&" in page.browser.current_url


def test_k_marks_the_nodes_that_python_marks(page, facts):
    pooled, *_ = facts[min(facts)]
    assert len(page.all("circle.node")) == pooled.num_nodes
    for k in (10, 3, 1, 7):
        page.slide("k", k)
        assert page.marked() == np.flatnonzero(pooled.top(k)).tolist()
        assert page.one("#kText").text == f"{k} ({pooled.top(k).sum()} marked)"


def test_layers_mark_by_their_own_importance_and_ring_what_was_selected(page, facts):
    pooled, *_ = facts[min(facts)]
    page.slide("k", 4)
    for layer in (1, 2, 3):
        page.slide("layer", layer)
        importance = pooled.importance[layer - 1]
        ahead = [(importance > value).sum() for value in importance]
        assert page.marked() == [node for node, before in enumerate(ahead) if before < 4]
        assert len(page.all("circle.ring")) == pooled.selected[layer - 1].sum()
        assert page.one("#layerText").text == f"{layer} of 3"
    page.slide("layer", 0)
    assert page.all("circle.ring") == []


def test_pointing_at_a_node_shows_its_importance_in_every_layer(page, facts):
    from selenium.webdriver import ActionChains

    pooled, *_ = facts[min(facts)]
    circle = page.all("circle.node")[2]
    node = int(circle.get_attribute("data-node"))
    ActionChains(page.browser).move_to_element(circle).perform()
    assert page.one("#details strong").text.startswith(f"node {node}: selected in {pooled.count[node]} of 3 layers")
    rows = [row.text.split() for row in page.all("#details tr")]
    assert [float(value) for value in rows[1][1:]] == pytest.approx(pooled.importance[:, node].tolist(), rel=1e-3)
    assert [value == "yes" for value in rows[3][1:]] == pooled.selected[:, node].tolist()


def test_nodes_are_reached_with_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    seen = set()
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_RIGHT):
        page.one("#drawing").send_keys(key)
        seen.add(page.one("#details strong").text.split(":")[0])
    assert len(seen) > 1
    assert page.one("circle.current").get_attribute("visibility") == "visible"


def test_every_control_can_be_reached_with_the_tab_key(page):
    from selenium.webdriver.common.keys import Keys

    reached = []
    for _ in range(14):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(page.browser.switch_to.active_element.get_attribute("id"))
    wanted = ["class", "outcome", "graph", "previous", "next", "layer", "k", "texts", "truth", "drawing"]
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted


def test_prediction_and_probabilities(page, facts):
    for graph in sorted(facts)[:4]:
        _, probabilities, label = facts[graph]
        names = motif_subject().class_names
        best = int(probabilities.argmax())
        verdict = page.one("#verdict").text
        assert verdict.startswith(f"predicted {names[best]} ({probabilities[best]:.3f})")
        assert ("right" in verdict) == (best == label)
        bars = [bar.text.split("\n") for bar in page.all(".bar")]
        assert [name for name, _ in bars] == list(names)
        assert [float(value) for _, value in bars] == pytest.approx(probabilities.tolist(), abs=6e-4)
        page.one("#next").click()


def test_truth_texts_and_their_switches(page, facts):
    pooled, *_ = facts[min(facts)]
    assert len(page.all("circle.truth")) == 6
    page.one("#truth").click()
    assert page.all("circle.truth") == []
    page.choose("texts", "ids")
    assert {text.text for text in page.all("#drawing text")} == {str(v) for v in range(pooled.num_nodes)}
    page.choose("texts", "ranks")
    assert sum(text.text == "1" for text in page.all("#drawing text")) == pooled.top(1).sum()


def test_a_pattern_leads_to_its_example(page):
    rows = page.all("#patterns tbody tr")
    assert rows
    layer, button = (
        int(rows[0].find_elements("css selector", "td")[2].text),
        rows[0].find_element("css selector", "button"),
    )
    graph = int(button.text.split()[1])
    button.click()
    assert f"graph={graph}&layer={layer}&" in page.browser.current_url
    assert page.one("#details strong").text.startswith("node ")
    page.choose("class", "1")
    assert {row.find_elements("css selector", "td")[1].text for row in page.all("#patterns tbody tr")} <= {
        "hubs-joined"
    }


def test_learning_curves_are_drawn(page):
    captions = [caption.text for caption in page.all("#curves figcaption")]
    assert captions == ["loss, training", "accuracy, training"]
    for svg, key in zip(page.all("#curves svg"), ("loss", "accuracy")):
        (line,) = svg.find_elements("css selector", "path[stroke='#0072b2']")
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", line.get_attribute("d"))]
        values = [epoch[key] for epoch in motif_subject().parts[0].history]
        assert len(heights) == 2
        assert (heights[0] < heights[1]) == (values[0] > values[1])  # upwards is towards zero on a screen


def test_the_address_remembers_the_state(browser, page_file, facts):
    graph = sorted(facts)[5]
    browser.get("about:blank")
    browser.get(f"file://{page_file}#graph={graph}&layer=2&k=3")
    opened = Page.__new__(Page)
    opened.browser = browser
    pooled, *_ = facts[graph]
    ahead = [(pooled.importance[1] > value).sum() for value in pooled.importance[1]]
    assert opened.marked() == [node for node, before in enumerate(ahead) if before < 3]


@pytest.mark.slow
def test_1500_graphs_load_in_less_than_two_seconds(browser, tmp_path):
    rng = np.random.default_rng(0)
    shapes = [complete, star, path]
    graphs = [shapes[number % 3](int(size)) for number, size in enumerate(rng.integers(7, 20, 1500))]
    data = dataset(graphs, (np.arange(1500) % 3).tolist())
    method = GraphClassifier("spgnn", layers=3, k=10, channels=4, epochs=1).fit(data[:60]).method_
    subject = Subject("many", data, (Part(method, np.arange(1500)),), data.meta.class_names)
    file = write_page(subject, tmp_path / "page.html")
    assert file.stat().st_size < MAX_BYTES
    seconds = []
    for _ in range(3):
        page = Page(browser, file)
        times = "const t = performance.timing; return (t.loadEventEnd - t.navigationStart) / 1000"
        seconds.append(browser.execute_script(times))
    assert 0 < min(seconds) < 2
    assert len(page.all("#graph option")) == 1500
    assert page.problems() == []
