// Builds what the pages of appell embed, into ../src/appell/view/web: `npm ci --ignore-scripts && npm run build`.
// The results are committed; package-lock.json pins what they are made of. font.py beside this file makes the font.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const out = new URL("../src/appell/view/web/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });

await build({
  entryPoints: ["src/main.js"], bundle: true, minify: true, format: "iife", target: "es2020",
  legalComments: "eof", outfile: `${out}viewer.js`,
});
await build({
  entryPoints: ["src/report.js"], bundle: true, minify: true, format: "iife", target: "es2020",
  legalComments: "eof", outfile: `${out}report.js`,
});
copyFileSync("node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js", `${out}plotly.js`);

const licences = [
  ["three.js", "three"], ["plotly.js (cartesian bundle)", "plotly.js-cartesian-dist-min"], ["Temml", "temml"],
  ["STIX Two Math", "@fontsource/stix-two-math"],
];
const texts = licences.map(([title, name]) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${title} ${version}\n${"=".repeat(60)}\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${out}LICENSES.txt`, `What the pages of appell embed, and its licences.\n\n${texts.join("\n\n")}`);
