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

function plots() {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  for (const host of document.querySelectorAll("[data-plot]")) {
    const spec = JSON.parse(document.getElementById(host.dataset.plot).textContent);
    const config = { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
    globalThis.Plotly.newPlot(host, spec.data, dressed(spec, wish.matches), config);
    wish.addEventListener("change", () => globalThis.Plotly.react(host, spec.data, dressed(spec, wish.matches), config));
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
