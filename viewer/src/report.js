// Formulas of a page by Temml, plots by Plotly (loaded before as a script of its own).
import temml from "temml";

const failed = [];

function font() {
  // From its bytes: pages within pages often may not load fonts by address, not even by one that holds the data.
  const data = document.getElementById("font");
  if (!data) return;
  const bytes = Uint8Array.from(atob(data.textContent), (c) => c.charCodeAt(0));
  document.fonts.add(new FontFace("STIX Two Math", bytes));
}

const NAME = String.raw`\\(?:sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|exp|log|ln)`;

function spaced(tex) {
  // Names of functions as LaTeX itself sets them: no gap before their brackets, a thin one before them.
  const opening = new RegExp(String.raw`${NAME}(?:\^\{[^{}]*\})?\{(?=\\left\()`, "g");
  let found;
  while ((found = opening.exec(tex))) {
    const start = opening.lastIndex - 1;
    let depth = 0;
    let end = start;
    do depth += { "{": 1, "}": -1 }[tex[end++]] ?? 0;
    while (depth && end < tex.length);
    tex = tex.slice(0, start) + tex.slice(start + 1, end - 1) + tex.slice(end);
    opening.lastIndex = start;
  }
  return tex.replace(new RegExp(String.raw`\}\s*(?=${NAME}(?![a-z]))`, "g"), String.raw`} \, `);
}

function formulas() {
  for (const node of document.querySelectorAll("[data-tex]")) {
    const text = node.textContent;
    try {
      temml.render(spaced(text), node, { displayMode: node.dataset.tex === "block", throwOnError: true, wrap: "none" });
      node.classList.add("typeset");
    } catch (error) {
      failed.push(String(error));
      node.textContent = text;
      node.classList.add("source");
    }
  }
}

function dressed(spec, dark) {
  const ink = dark ? "#d8dee4" : "#30363d";
  const lines = dark ? "#39424c" : "#e3e7eb";
  const clear = "rgba(0,0,0,0)";
  const layout = structuredClone(spec.layout);
  const modebar = { bgcolor: clear, color: dark ? "#7d8892" : "#9aa3ad", activecolor: dark ? "#5aa9e6" : "#1769aa" };
  Object.assign(layout, { paper_bgcolor: clear, plot_bgcolor: clear, font: { color: ink, size: 13 }, modebar });
  for (const name of Object.keys(layout)) if (/^legend/.test(name)) layout[name].bgcolor = clear;
  for (const [name, axis] of Object.entries(layout))
    if (/^[xy]axis/.test(name)) Object.assign(axis, { gridcolor: lines, zerolinecolor: lines, linecolor: lines });
  return layout;
}

const PANEL = 200;
const ROW = 21;

function narrow(layout, data, width) {
  // On a small screen names stand above their panel, in as many rows as they need, and panels make room for them.
  const ends = Object.keys(layout).filter((name) => /^yaxis/.test(name)).map((name) => name.slice(5));
  const rows = ends.map((end) => {
    const names = data.filter((d) => d.showlegend && (d.legend ?? "legend") === `legend${end}`).map((d) => d.name);
    const widest = Math.max(0, ...names.map((name) => 48 + 7.2 * name.length));
    return Math.ceil(names.length / Math.max(1, Math.floor((width - 90) / widest)));
  });
  const gaps = rows.map((count, i) => (i > 0 ? 26 : 0) + ROW * count);
  const inner = Math.max(ends.length * PANEL, 300) + gaps.reduce((sum, gap) => sum + gap, 0);
  const high = (inner - gaps.reduce((sum, gap) => sum + gap, 0)) / ends.length;
  let top = 0;
  ends.forEach((end, i) => {
    top += gaps[i];
    layout[`yaxis${end}`].domain = [Math.max(0, 1 - (top + high) / inner), 1 - top / inner];
    const legend = layout[`legend${end}`];
    if (legend) Object.assign(legend, { orientation: "h", x: 0, y: 1 - (top - 3) / inner, yanchor: "bottom" });
    top += high;
  });
  const title = layout.title.text.match(new RegExp(`.{1,${Math.floor(width / 8.5)}}(?: |$)`, "g")) ?? [];
  layout.title.text = title.join("<br>");
  layout.margin.t += 20 * Math.max(0, title.length - 1);
  layout.height = inner + layout.margin.t + layout.margin.b;
}

function plots() {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const small = matchMedia("(max-width: 600px)");
  for (const host of document.querySelectorAll("[data-plot]")) {
    const spec = JSON.parse(document.getElementById(host.dataset.plot).textContent);
    const config = { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
    const draw = () => {
      const layout = dressed(spec, wish.matches);
      if (small.matches) narrow(layout, spec.data, host.clientWidth);
      host.style.height = `${layout.height}px`;
      globalThis.Plotly.react(host, spec.data, layout, config);
    };
    draw();
    for (const change of [wish, small]) change.addEventListener("change", draw);
  }
}

function start() {
  font();
  formulas();
  if (globalThis.Plotly) plots();
  globalThis.appellReport = { failed };
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
