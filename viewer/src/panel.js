// Controls of a viewer: made of DOM elements and text, never of markup.
import * as THREE from "three";
import { shade } from "./overlays.js";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const CLOCKS = [["years", 31557600], ["days", 86400], ["h", 3600], ["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
const FEW = 3; // seconds that a run takes at least at the speed it begins with
const MANY = 30; // and at most, if no more than a hundred moments go by in one

function speeds(span, count) {
  // Those in the menu, and the one to begin with: real time where that is neither too short nor too long.
  if (span >= FEW && span <= MANY) return [SPEEDS, 1];
  const most = Math.max(MANY, count / 100);
  const fits = (s) => span / s >= FEW && span / s <= most;
  const near = SPEEDS.filter(fits);
  if (near.length) return [SPEEDS, span < FEW ? near[near.length - 1] : near[0]];
  const power = Math.floor(Math.log10(span / most));
  const first = [1, 2, 5, 10].map((k) => Number(`${k}e${power}`)).find(fits);
  const round = [0.1, 0.2, 0.5, 1, 2, 5, 10].map((k) => Number((k * first).toPrecision(1)));
  return [[...new Set([...round, 1])].sort((a, b) => a - b), first];
}

function times(span) {
  // How a moment of a run of some length is written.
  const [unit, size] = CLOCKS.find(([, e]) => span >= (e > 1 ? 3 : 0.3) * e) ?? CLOCKS[CLOCKS.length - 1];
  const digits = span < 3 * size ? 3 : span < 300 * size ? 2 : span < 3000 * size ? 1 : 0;
  return (t) => `${(t / size).toFixed(digits)} ${unit}`;
}

function power(number) {
  // 5e7 as 5·10⁷.
  const [digits, exponent] = Number(number.toPrecision(2)).toExponential().split("e+");
  return `${digits === "1" ? "" : `${digits}·`}10${[...exponent].map((e) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[e]).join("")}`;
}

function length(step) {
  if (step >= 1e9) return `${power(step / 1e3)} km`;
  const [unit, size] = step >= 1e4 ? ["km", 1e3] : step >= 9e-3 ? ["m", 1] : step >= 9e-6 ? ["mm", 1e-3]
    : step >= 9e-9 ? ["µm", 1e-6] : ["nm", 1e-9];
  return `${Number((step / size).toPrecision(2))} ${unit}`;
}

export function element(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function button(text, title, action) {
  const made = element("button", "", text);
  made.type = "button";
  made.title = title;
  made.setAttribute("aria-label", title);
  made.addEventListener("click", action);
  return made;
}

function select(title, entries, action) {
  const made = element("select");
  made.title = title;
  made.setAttribute("aria-label", title);
  for (const [value, text] of entries) {
    const entry = element("option", "", text);
    entry.value = value;
    made.append(entry);
  }
  made.addEventListener("change", () => action(made.value));
  return made;
}

const short = (x) => {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(2) : x.toFixed(size < 10 ? 3 : 2);
};

export class Panel {
  constructor(viewer, layers) {
    this.viewer = viewer;
    const { scene, course, stage, host } = viewer;
    const title = element("div", "title");
    title.append(element("strong", "", scene.title), element("span", "", scene.subtitle));
    stage.append(title);
    this.names = scene.solids.map((solid) => {
      const label = element("div", "name", solid.name);
      stage.append(label);
      return label;
    });
    this.scale = element("div", "ruler");
    stage.append(this.scale);
    this.legend(stage, scene);
    const bar = element("div", "bar");
    if (course.count > 1) {
      const span = course.last - course.first;
      this.time = times(span);
      this.toggle = button("", "play or pause (space)", () => (viewer.playing ? viewer.pause() : viewer.play()));
      this.toggle.classList.add("play");
      this.clock = element("output", "clock");
      this.slider = element("input");
      Object.assign(this.slider, { type: "range", min: 0, max: 10000, value: 0, title: "time" });
      this.slider.setAttribute("aria-label", "time");
      this.slider.addEventListener("input", () => {
        viewer.pause();
        viewer.seek(course.first + (this.slider.value / 10000) * (course.last - course.first));
      });
      const rail = element("div", "rail");
      rail.append(this.slider);
      for (const [t, name] of scene.events) {
        const mark = element("i");
        mark.style.left = `${(100 * (t - course.first)) / (course.last - course.first)}%`;
        mark.title = `${name} at ${this.time(t)}`;
        rail.append(mark);
      }
      const [listed, first] = speeds(span, course.count);
      this.speeds = select("speed", listed.map((s) => [s, `${s}×`]), (value) => (viewer.speed = Number(value)));
      bar.append(this.toggle, rail, this.clock, this.speeds);
      this.speeds.value = viewer.speed = first;
    }
    const views = [["default", "view"], ["oblique", "oblique"], ["front", "front"], ["side", "side"], ["top", "top"]];
    this.views = select("camera", views, (value) => viewer.stand(value));
    const moving = scene.solids.map((s, i) => [i, `follow: ${s.name}`])
      .filter(([i]) => i === viewer.follow || !course.rests(scene.solids[i]));
    this.follow = select("follow a body", [[-1, "follow: none"], ...moving], (value) => viewer.setFollow(Number(value)));
    this.follow.hidden = !moving.length;
    const menu = element("details", "menu");
    menu.append(element("summary", "", "layers"), this.boxes(viewer, layers));
    bar.append(this.views, this.follow, menu, button("PNG", "save a still", () => this.still()));
    if (course.count > 1 && globalThis.MediaRecorder)
      bar.append(button("video", "record one run to a video file", (event) => this.record(event.target)));
    bar.append(button("full", "full screen", () => (document.fullscreenElement ? document.exitFullscreen() : host.requestFullscreen())));
    host.append(bar);
    if (scene.readout.length) this.reading(stage, scene);
    this.gone = new AbortController();
    host.addEventListener("keydown", (event) => this.key(event), { signal: this.gone.signal });
    this.sync();
  }

  remove() {
    const { stage, host, renderer } = this.viewer;
    this.gone.abort();
    stage.replaceChildren(renderer.domElement);
    host.querySelector(".bar").remove();
  }

  setSpeed(speed) {
    // As it was chosen, where the menu has it.
    if (![...(this.speeds?.options ?? [])].some((e) => Number(e.value) === speed)) return;
    this.speeds.value = this.viewer.speed = speed;
  }

  boxes(viewer, layers) {
    const list = element("div", "list");
    const kinds = { forces: "force", reactions: "reaction", weights: "weight", couples: "couple" };
    for (const [name, text] of Object.entries(layers)) {
      const { scene } = viewer;
      const empty = kinds[name]
        ? !scene.arrows.some((a) => a.kind === kinds[name])
        : name === "field" ? !scene.field
        : ["traces", "jets", "curves"].includes(name) && !scene[name].length;
      if (empty) continue;
      const label = element("label", name);
      const box = element("input");
      box.type = "checkbox";
      box.checked = viewer.layers[name].visible;
      box.dataset.layer = name;
      box.addEventListener("change", () => viewer.setLayer(name, box.checked));
      label.append(box, text);
      list.append(label);
    }
    return list;
  }

  legend(stage, scene) {
    if (!scene.field) return;
    const legend = element("div", "legend");
    const scale = element("span", "scale");
    const stops = [0, 0.25, 0.5, 0.75, 1].map((s) => `rgb(${shade(s).join(",")})`);
    scale.style.background = `linear-gradient(90deg, ${stops.join(",")})`;
    legend.append(`${scene.field.label}  0`, scale, `${short(scene.field.max)} ${scene.field.unit}`);
    stage.append(legend);
  }

  reading(stage, scene) {
    const table = element("details", "reading");
    table.append(element("summary", "", "values"));
    const body = element("div", "list");
    this.cells = scene.readout.map(([label, unit, track]) => {
      const row = element("div");
      const value = element("b");
      row.append(element("span", "", label), value, element("em", "", unit));
      body.append(row);
      return [value, track];
    });
    table.append(body);
    this.table = table;
    stage.append(table);
  }

  key(event) {
    const { viewer } = this;
    if (/INPUT|SELECT/.test(event.target.tagName) && event.key !== " ") return;
    const { course } = viewer;
    const step = (course.last - course.first) / 100;
    if (event.key === " ") viewer.playing ? viewer.pause() : viewer.play();
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      viewer.pause();
      viewer.seek(course.t + (event.key === "ArrowRight" ? step : -step));
    } else if (event.key === "Home") viewer.seek(course.first);
    else if (event.key === "End") {
      viewer.pause();
      viewer.seek(course.last);
    } else return;
    event.preventDefault();
  }

  sync() {
    const { viewer } = this;
    if (this.toggle) this.toggle.textContent = viewer.playing ? "❚❚" : "▶";
    this.follow.value = viewer.follow;
  }

  update() {
    // Numbers ten times a second while it plays: to lay out the page anew takes longer than to draw.
    const now = performance.now();
    if (!this.viewer.playing || now - (this.told ?? 0) > 95) {
      this.told = now;
      this.tell();
    }
    this.label();
  }

  tell() {
    const { viewer } = this;
    const { course } = viewer;
    if (this.slider) {
      const share = (course.t - course.first) / (course.last - course.first);
      this.slider.value = Math.round(10000 * share);
      this.clock.textContent = this.time(course.t);
    }
    if (this.table?.open) for (const [cell, track] of this.cells) cell.textContent = short(course.scalar(track));
    if (this.step !== viewer.step) {
      this.step = viewer.step;
      this.scale.textContent = `grid ${length(viewer.step)}`;
    }
  }

  label() {
    const { viewer } = this;
    const shown = viewer.layers.names.visible;
    if (!shown && this.labelled === false) return;
    this.labelled = shown;
    const place = new THREE.Vector3();
    this.names.forEach((label, i) => {
      label.hidden = !shown;
      if (!shown) return;
      place.copy(viewer.bodies[i].position).project(viewer.camera);
      label.style.left = `${50 + 50 * place.x}%`;
      label.style.top = `${50 - 50 * place.y}%`;
      label.hidden = place.z > 1;
    });
  }

  offer(url, ending) {
    const link = element("a");
    link.href = url;
    link.download = `${this.viewer.scene.title.replace(/[^\w-]+/g, "-") || "scene"}.${ending}`;
    link.click();
  }

  still() {
    this.viewer.dress(0);
    this.viewer.render();
    this.offer(this.viewer.renderer.domElement.toDataURL("image/png"), "png");
  }

  record(source) {
    const { viewer } = this;
    if (this.recorder) return this.recorder.stop();
    const kind = ["video/mp4", "video/webm"].find((e) => MediaRecorder.isTypeSupported(e));
    const chunks = [];
    this.recorder = new MediaRecorder(viewer.renderer.domElement.captureStream(30), { mimeType: kind });
    this.recorder.ondataavailable = (event) => chunks.push(event.data);
    this.recorder.onstop = () => {
      this.recorder = undefined;
      viewer.loop = true;
      source.textContent = "video";
      const url = URL.createObjectURL(new Blob(chunks, { type: kind }));
      this.offer(url, kind.slice(6));
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    };
    source.textContent = "stop";
    viewer.loop = false;
    viewer.seek(viewer.course.first);
    viewer.play();
    this.recorder.start();
    const wait = setInterval(() => {
      if (viewer.playing) return;
      clearInterval(wait);
      if (this.recorder) this.recorder.stop();
    }, 200);
  }
}
