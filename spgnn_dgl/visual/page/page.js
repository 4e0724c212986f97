"use strict";
(function () {
  const element = (id) => document.getElementById(id);
  const content = JSON.parse(element("content").textContent);
  const numbers = unpack(element("numbers").textContent, content.arrays);
  const { classNames, numLayers, numGraphs, grid } = content;
  const numClasses = classNames.length;
  const ALL_LAYERS = 0;
  const SVG = "http://www.w3.org/2000/svg";
  const VIEW = { width: 800, height: 480, margin: 30 };

  const state = { graph: 0, layer: ALL_LAYERS, k: Math.min(10, content.k), node: -1, texts: "none", truth: content.hasTruth };
  if (content.symbols.length && content.symbols.every((text) => text.length <= 2)) state.texts = "symbols"; // atoms
  let listed = []; // numbers of the graphs that the filters let through
  let places = []; // positions of the nodes on the screen

  // ---- numbers -------------------------------------------------------------------------------------------------

  function unpack(text, table) {
    const raw = atob(text.trim());
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const types = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array };
    const arrays = {};
    for (const name of Object.keys(table)) {
      const { type, start, length } = table[name];
      arrays[name] = new types[type](bytes.buffer, start, length);
    }
    return arrays;
  }

  const label = (g) => numbers.label[g] - 1;
  const probability = (g, c) => numbers.probability[g * numClasses + c] / grid;

  function predicted(g) {
    let best = 0;
    for (let c = 1; c < numClasses; c++) if (probability(g, c) > probability(g, best)) best = c;
    return best;
  }

  const firstNode = () => numbers.nodeStart[state.graph];
  const numNodes = () => numbers.nodeStart[state.graph + 1] - firstNode();
  // over all layers the order of the paper's figure, in one layer the order of its importance
  const rank = (node, layer) => numbers.rank[(firstNode() + node) * (numLayers + 1) + layer];
  const importance = (node, layer) => numbers.importance[(firstNode() + node) * numLayers + layer - 1];
  const selected = (node, layer) => (numbers.selected[firstNode() + node] >> (layer - 1)) & 1;
  const isMarked = (node) => rank(node, state.layer) < state.k;
  const symbol = (node) => (content.symbols.length ? content.symbols[numbers.symbol[firstNode() + node]] : "");
  const nodeNumber = (node) => numbers.node[firstNode() + node];
  const isTrue = (node) => content.hasTruth && numbers.truth[firstNode() + node] === 1;

  // ---- which graphs --------------------------------------------------------------------------------------------

  function filter() {
    const wantedClass = element("class").value;
    const outcome = element("outcome").value;
    listed = [];
    for (let g = 0; g < numGraphs; g++) {
      if (wantedClass !== "all" && label(g) !== Number(wantedClass)) continue;
      if (outcome !== "all" && (predicted(g) === label(g)) !== (outcome === "right")) continue;
      listed.push(g);
    }
    const options = document.createDocumentFragment();
    for (const g of listed) {
      const mark = label(g) < 0 ? "" : predicted(g) === label(g) ? "✓" : "✗";
      options.append(new Option(`${numbers.graph[g]}: ${numbers.size[g]} nodes ${mark}`, g));
    }
    element("graph").replaceChildren(options);
    element("graph").disabled = listed.length === 0;
    if (listed.length && !listed.includes(state.graph)) show(listed[0]);
    else show(state.graph);
  }

  function show(graph) {
    if (graph !== state.graph) state.node = -1;
    state.graph = graph;
    if (listed.includes(graph)) element("graph").value = String(graph);
    element("k").max = String(Math.max(content.k, 10, Math.min(60, numbers.size[graph])));
    draw();
  }

  function step(by) {
    if (!listed.length) return;
    const at = listed.indexOf(state.graph);
    show(listed[(at + by + listed.length) % listed.length]);
  }

  // ---- the drawing ---------------------------------------------------------------------------------------------

  function shape(name, attributes, parent) {
    const made = document.createElementNS(SVG, name);
    for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
    if (parent) parent.append(made);
    return made;
  }

  function place() {
    const start = firstNode();
    const span = Math.max(numbers.span[state.graph], 0.5);
    let width = 0, height = 0;
    const at = [];
    for (let n = 0; n < numNodes(); n++) {
      const x = numbers.position[2 * (start + n)] / grid, y = numbers.position[2 * (start + n) + 1] / grid;
      at.push([x, y]);
      width = Math.max(width, x);
      height = Math.max(height, y);
    }
    const room = { width: VIEW.width - 2 * VIEW.margin, height: VIEW.height - 2 * VIEW.margin };
    // small graphs are not blown up: an edge is at most 90 units long
    const scale = Math.min(room.width / Math.max(width, 1e-9), room.height / Math.max(height, 1e-9), 90 * span);
    const left = (VIEW.width - width * scale) / 2, top = (VIEW.height - height * scale) / 2;
    return at.map(([x, y]) => [left + x * scale, VIEW.height - top - y * scale]);
  }

  function radius() {
    let sum = 0;
    const nearest = places.map(([x, y], n) => {
      let best = Infinity;
      places.forEach(([u, v], m) => { if (m !== n) best = Math.min(best, Math.hypot(x - u, y - v)); });
      return best;
    }).sort((a, b) => a - b);
    sum = nearest.length > 1 ? nearest[Math.floor(nearest.length * 0.2)] : 60;
    return Math.max(3.2, Math.min(13, 0.32 * sum));
  }

  function draw() {
    const drawing = element("drawing");
    drawing.replaceChildren();
    drawing.setAttribute("viewBox", `0 0 ${VIEW.width} ${VIEW.height}`);
    places = place();
    const size = radius();
    drawEdges(drawing);
    const layer = shape("g", {}, drawing), over = shape("g", {}, drawing);
    const wantsText = state.texts !== "none" && size >= 5;
    places.forEach(([x, y], n) => {
      const marked = isMarked(n);
      const r = marked ? 1.2 * size : 0.85 * size;
      const circle = shape("circle", { class: marked ? "node marked" : "node", cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1),
        "stroke-width": marked ? 2 : 1, "data-node": n }, layer);
      circle.addEventListener("mouseenter", () => point(n));
      circle.addEventListener("click", () => point(n));
      if (state.layer !== ALL_LAYERS && selected(n, state.layer))
        shape("circle", { class: "ring", cx: x, cy: y, r: r + 2.5, "stroke-width": 1.2 }, over);
      if (state.truth && isTrue(n)) shape("circle", { class: "truth", cx: x, cy: y, r: r + 4.5, "stroke-width": 1.8 }, over);
      if (wantsText) {
        const text = shape("text", { x, y, "font-size": Math.min(12, 1.15 * size) }, over);
        text.textContent = nodeText(n);
      }
    });
    shape("circle", { class: "current", r: 1.2 * size + 6, visibility: "hidden" }, over);
    point(state.node);
    describe();
  }

  function drawEdges(drawing) {
    const start = numbers.edgeStart[state.graph], end = numbers.edgeStart[state.graph + 1];
    const marks = places.map((_, n) => isMarked(n));
    const everything = marks.every(Boolean);
    let plain = "", strong = "";
    for (let e = start; e < end; e++) {
      const a = numbers.edges[2 * e], b = numbers.edges[2 * e + 1];
      const line = `M${places[a][0].toFixed(1)} ${places[a][1].toFixed(1)}L${places[b][0].toFixed(1)} ${places[b][1].toFixed(1)}`;
      if (marks[a] && marks[b] && !everything) strong += line; else plain += line;
    }
    const weight = Math.max(0.25, Math.min(1.4, 1.4 * Math.pow(90 / Math.max(end - start, 1), 0.6)));
    if (plain) shape("path", { class: "edges", d: plain, "stroke-width": weight }, drawing);
    if (strong) shape("path", { class: "edges strong", d: strong, "stroke-width": 1.6 * weight }, drawing);
  }

  function nodeText(n) {
    if (state.texts === "ids") return String(nodeNumber(n));
    if (state.texts === "symbols") return symbol(n);
    return String(rank(n, state.layer) + 1);
  }

  // ---- what is written -----------------------------------------------------------------------------------------

  function point(node) {
    state.node = node >= 0 && node < numNodes() ? node : -1;
    const current = element("drawing").querySelector(".current");
    const details = element("details");
    if (state.node < 0) {
      current.setAttribute("visibility", "hidden");
      details.textContent = "Point at a node, or go through them with the arrow keys. N and P: next and previous graph.";
      return;
    }
    current.setAttribute("cx", places[node][0]);
    current.setAttribute("cy", places[node][1]);
    current.setAttribute("visibility", "visible");
    const heading = document.createElement("strong");
    const chosen = [];
    for (let l = 1; l <= numLayers; l++) if (selected(node, l)) chosen.push(l);
    const name = symbol(node) ? `, ${symbol(node)}` : "";
    heading.textContent = `node ${nodeNumber(node)}${name}: ` +
      (chosen.length ? `selected in ${chosen.length} of ${numLayers} layers` : "selected in no layer") +
      `, rank ${rank(node, ALL_LAYERS) + 1} over all` + (isTrue(node) ? ", ground truth" : "");
    const table = document.createElement("table");
    const rows = [["layer"], ["importance"], ["rank"], ["selected"]];
    for (let l = 1; l <= numLayers; l++) {
      rows[0].push(String(l));
      rows[1].push(importance(node, l).toPrecision(4));
      rows[2].push(String(rank(node, l) + 1));
      rows[3].push(selected(node, l) ? "yes" : "–");
    }
    for (const cells of rows) {
      const row = table.insertRow();
      cells.forEach((cell, i) => {
        const made = document.createElement(i ? "td" : "th");
        made.textContent = cell;
        row.append(made);
      });
    }
    details.replaceChildren(heading, table);
  }

  function describe() {
    const g = state.graph;
    element("layerText").value = state.layer === ALL_LAYERS ? "all" : `${state.layer} of ${numLayers}`;
    let marked = 0;
    for (let n = 0; n < numNodes(); n++) if (isMarked(n)) marked++;
    element("kText").value = `${state.k} (${marked} marked)`;
    element("k").value = String(state.k);
    element("layer").value = String(state.layer);
    const part = numNodes() < numbers.size[g] ? `, ${numNodes()} of its ${numbers.size[g]} nodes drawn` : "";
    const at = listed.indexOf(g);
    element("count").textContent = listed.length
      ? `${at < 0 ? "–" : at + 1} of ${listed.length} graphs${part}` : "no graph is like this";
    const verdict = element("verdict");
    const best = predicted(g);
    verdict.replaceChildren(`predicted ${classNames[best]} (${probability(g, best).toFixed(3)})`);
    if (label(g) >= 0) {
      const told = document.createElement("span");
      told.className = best === label(g) ? "right" : "wrong";
      told.textContent = best === label(g) ? " ✓ right" : ` ✗ wrong, it is ${classNames[label(g)]}`;
      verdict.append(told);
    }
    element("bars").replaceChildren(...classNames.map((name, c) => bar(name, probability(g, c), c === best)));
    history.replaceState(null, "", `#graph=${numbers.graph[g]}&layer=${state.layer}&k=${state.k}`);
  }

  function bar(name, value, isBest) {
    const row = document.createElement("div");
    row.className = isBest ? "bar predicted" : "bar";
    const text = document.createElement("span"), track = document.createElement("div"), figure = document.createElement("span");
    text.textContent = name;
    text.title = name;
    track.className = "track";
    const fill = document.createElement("div");
    fill.className = "fill";
    fill.style.width = `${(100 * value).toFixed(1)}%`;
    track.append(fill);
    figure.textContent = value.toFixed(3);
    row.append(text, track, figure);
    return row;
  }

  function summarise() {
    let right = 0, known = 0;
    for (let g = 0; g < numGraphs; g++) if (label(g) >= 0) { known++; if (predicted(g) === label(g)) right++; }
    const shown = numGraphs < content.totalGraphs ? `${numGraphs} of ${content.totalGraphs} graphs` : `${numGraphs} graphs`;
    const accuracy = known ? `, ${(100 * right / known).toFixed(1)} % predicted rightly` : "";
    const held = content.heldOut === true ? ", each by a model that was not trained on it"
      : content.heldOut === false ? ", among them graphs that the model was trained on" : ", some of which the model may have been trained on";
    element("title").textContent = `${content.title}: what was pooled`;
    element("summary").textContent = `${shown}${accuracy}${held}. ${numLayers} layers, k = ${content.k}.`;
  }

  // ---- patterns and curves -------------------------------------------------------------------------------------

  function listPatterns() {
    const wantedClass = element("class").value;
    const { rows, note } = content.patterns;
    element("patternNote").textContent = `${note} Enriched: how much more frequent the pattern is among pooled nodes than ` +
      "among all nodes of the class. q: Fisher's exact tests for both, after Benjamini and Hochberg.";
    const body = element("patterns").tBodies[0];
    body.replaceChildren();
    for (const pattern of rows) {
      if (wantedClass !== "all" && pattern.label !== Number(wantedClass)) continue;
      const row = body.insertRow();
      const q = pattern.q < 1e-300 ? "< 1e-300" : pattern.q < 1e-3 ? pattern.q.toExponential(0) : pattern.q.toPrecision(2);
      const percent = (share) => `${(100 * share).toFixed(0)} %`;
      const cells = [pattern.rank, classNames[pattern.label], pattern.layer, pattern.text, `${pattern.enrichment.toFixed(2)}×`,
        percent(pattern.share), percent(pattern.elsewhere), q];
      for (const cell of cells) row.insertCell().textContent = cell;
      const last = row.insertCell();
      if (pattern.example) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "link";
        button.textContent = `graph ${pattern.example[0]}`;
        button.addEventListener("click", () => visit(pattern));
        last.append(button);
      }
    }
    element("patternSection").hidden = rows.length === 0;
  }

  function visit(pattern) {
    const graph = numbers.graph.indexOf(pattern.example[0]);
    element("class").value = "all";
    element("outcome").value = "all";
    state.layer = Math.min(pattern.layer, numLayers);
    state.graph = graph;
    filter();
    listPatterns();
    for (let n = 0; n < numNodes(); n++) if (nodeNumber(n) === pattern.example[1]) point(n);
    element("stage").scrollIntoView({ block: "nearest" });
  }

  function drawCurves() {
    const runs = content.curves;
    element("curveSection").hidden = runs.length === 0;
    for (const [key, title, most] of [["loss", "loss", null], ["accuracy", "accuracy", 1]]) {
      if (!runs.length) return;
      const lines = [], held = [];
      for (const run of runs) {
        lines.push(run.epoch.map((e, i) => [e, run[key][i]]));
        const validation = run[`validation_${key}`].map((v, i) => [run.epoch[i], v]).filter(([, v]) => v !== null);
        if (validation.length) held.push(validation);
      }
      element("curves").append(chart(title, lines, held, most));
    }
  }

  function ticks(low, high) {
    const rough = Math.max(high - low, 1e-6) / 4;
    const ten = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = ten * [1, 2, 5, 10].find((factor) => factor * ten >= rough);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high + 1e-9; i++) found.push(Number((i * step).toPrecision(6)));
    return found;
  }

  function chart(title, lines, held, most) {
    const width = 420, height = 230, left = 44, bottom = 30, top = 10, right = 10;
    const every = lines.concat(held).flat();
    const lastEpoch = Math.max(...every.map((p) => p[0])), firstEpoch = Math.min(...every.map((p) => p[0]));
    const values = every.map((p) => p[1]);
    const high = most === null ? Math.max(...values) : most, low = most === null ? 0 : Math.min(...values, 0.9);
    const x = (e) => left + (width - left - right) * (lastEpoch > firstEpoch ? (e - firstEpoch) / (lastEpoch - firstEpoch) : 0.5);
    const y = (v) => height - bottom - (height - bottom - top) * (high > low ? (v - low) / (high - low) : 0.5);
    const figure = document.createElement("figure");
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} per epoch` });
    for (const value of ticks(low, high)) {
      shape("path", { d: `M${left} ${y(value)}H${width - right}`, stroke: "#e3e7e9", "stroke-width": 1 }, svg);
      shape("text", { x: left - 6, y: y(value), style: "text-anchor:end" }, svg).textContent = String(value);
    }
    for (const epoch of [firstEpoch, Math.round((firstEpoch + lastEpoch) / 2), lastEpoch])
      shape("text", { x: x(epoch), y: height - 18 }, svg).textContent = epoch;
    shape("text", { x: (left + width - right) / 2, y: height - 5 }, svg).textContent = "epoch";
    const path = (points) => points.map(([e, v], i) => `${i ? "L" : "M"}${x(e).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    const opacity = lines.length > 1 ? 0.3 : 1;
    for (const line of lines) shape("path", { d: path(line), fill: "none", stroke: "#0072b2", opacity, "stroke-width": 1 }, svg);
    for (const line of held)
      shape("path", { d: path(line), fill: "none", stroke: "#d55e00", opacity, "stroke-width": 1, "stroke-dasharray": "4 2" }, svg);
    if (lines.length > 1) {
      const average = (group) => group[0].map(([e], i) => [e, group.reduce((sum, line) => sum + (line[i] || line[line.length - 1])[1], 0) / group.length]);
      shape("path", { d: path(average(lines)), fill: "none", stroke: "#0072b2", "stroke-width": 2.4 }, svg);
    }
    const caption = document.createElement("figcaption");
    caption.textContent = `${title}, training` + (lines.length > 1 ? ` (${lines.length} models and their mean)` : "") +
      (held.length ? "; dashed: validation" : "");
    figure.append(svg, caption);
    return figure;
  }

  // ---- the controls --------------------------------------------------------------------------------------------

  function nearestNode(direction) {
    if (state.node < 0) return point(0);
    const [x, y] = places[state.node];
    let best = -1, least = Infinity;
    places.forEach(([u, v], n) => {
      const along = (u - x) * direction[0] + (v - y) * direction[1];
      const across = Math.abs((u - x) * direction[1]) + Math.abs((v - y) * direction[0]);
      if (n !== state.node && along > 0.5 && along + 2 * across < least) { least = along + 2 * across; best = n; }
    });
    if (best >= 0) point(best);
  }

  function start() {
    element("class").append(new Option("all", "all"), ...classNames.map((name, c) => new Option(name, c)));
    element("layer").max = String(numLayers);
    element("truthLabel").hidden = element("truthKey").hidden = !content.hasTruth;
    element("truth").checked = state.truth;
    element("texts").value = state.texts;
    if (!content.symbols.length) element("texts").querySelector("[value=symbols]").remove();

    const asked = new URLSearchParams(location.hash.slice(1));
    const graph = numbers.graph.indexOf(Number(asked.get("graph") || -1));
    if (graph >= 0) state.graph = graph;
    if (asked.has("layer")) state.layer = Math.max(0, Math.min(numLayers, Number(asked.get("layer")) || 0));
    if (asked.has("k")) state.k = Math.max(1, Number(asked.get("k")) || 1);

    element("class").addEventListener("change", () => { filter(); listPatterns(); });
    element("outcome").addEventListener("change", filter);
    element("graph").addEventListener("change", (event) => show(Number(event.target.value)));
    element("previous").addEventListener("click", () => step(-1));
    element("next").addEventListener("click", () => step(1));
    element("layer").addEventListener("input", (event) => { state.layer = Number(event.target.value); draw(); });
    element("k").addEventListener("input", (event) => { state.k = Number(event.target.value); draw(); });
    element("texts").addEventListener("change", (event) => { state.texts = event.target.value; draw(); });
    element("truth").addEventListener("change", (event) => { state.truth = event.target.checked; draw(); });
    element("controls").addEventListener("submit", (event) => event.preventDefault());
    element("drawing").addEventListener("keydown", (event) => {
      const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (directions[event.key]) { nearestNode(directions[event.key]); event.preventDefault(); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
      if (event.key === "n" || event.key === "N") step(1);
      if (event.key === "p" || event.key === "P") step(-1);
    });
    summarise();
    filter();
    listPatterns();
    drawCurves();
    document.body.dataset.ready = "yes";
  }

  start();
})();
