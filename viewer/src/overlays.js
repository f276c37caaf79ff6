// What is laid over bodies: traces, curves, jets, the map on the floor.
import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { bytes, floats } from "./data.js";

function line(positions, color, width, more = {}) {
  const geometry = new LineGeometry();
  geometry.setPositions(positions);
  const fill = new LineMaterial({ color, linewidth: width, transparent: true, ...more });
  const made = new Line2(geometry, fill);
  made.computeLineDistances();
  made.frustumCulled = false;
  return made;
}

function thin(positions, color, opacity) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  const made = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color, transparent: true, opacity }));
  made.frustumCulled = false;
  return made;
}

export class Trace {
  // The path so far, and faintly all of it; lines of one pixel where every wide one costs time.
  constructor(data, course, plain) {
    this.course = course;
    const start = 3 * data.point * course.count;
    const places = new Float32Array(course.points.subarray(start, start + 3 * course.count));
    this.object = new THREE.Group();
    if (course.count < 2) return;
    this.past = line(places, data.color, 2.6, { opacity: 0.95 });
    const whole = plain ? thin(places, data.color, 0.3) : line(places, data.color, 1.2, { opacity: 0.22 });
    this.object.add(whole, this.past);
  }

  update() {
    if (this.past) {
      this.past.geometry.instanceCount = Math.max(1, this.course.frame + 1);
      this.past.visible = this.course.frame > 0;
    }
  }
}

export function curve(data, scale) {
  const group = new THREE.Group();
  const constraint = data.kind === "constraint";
  for (const text of data.lines) {
    const dash = 0.02 * scale;
    group.add(
      line(floats(text), data.color, constraint ? 1 : 2, {
        opacity: constraint ? 0.45 : 0.9,
        dashed: !constraint,
        dashSize: dash,
        gapSize: 0.7 * dash,
      }),
    );
  }
  return group;
}

function dot() {
  const size = 32;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const draw = canvas.getContext("2d");
  const glow = draw.createRadialGradient(16, 16, 1, 16, 16, 15);
  glow.addColorStop(0, "rgba(255,255,255,1)");
  glow.addColorStop(0.5, "rgba(255,255,255,0.8)");
  glow.addColorStop(1, "rgba(255,255,255,0)");
  draw.fillStyle = glow;
  draw.fillRect(0, 0, size, size);
  return new THREE.CanvasTexture(canvas);
}

const noise = (i) => {
  const x = Math.sin(127.1 * i + 11.7) * 43758.5453;
  return x - Math.floor(x);
};

export class Jet {
  // Drops that left the mouth at earlier moments, or will reach it at later ones, each on its own straight (or
  // falling) way.
  constructor(data, course, scene) {
    this.data = data;
    this.course = course;
    this.count = 260;
    this.floor = scene.floor;
    this.up = new THREE.Vector3().fromArray(scene.up);
    this.slope = new THREE.Vector3().fromArray(scene.ground);
    this.places = new Float32Array(3 * this.count);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.places, 3));
    this.object = new THREE.Points(
      geometry,
      new THREE.PointsMaterial({
        color: 0x3fa3d9,
        size: 0.045 * scene.size,
        map: dot(),
        transparent: true,
        opacity: 0.75,
        depthWrite: false,
      }),
    );
    this.object.frustumCulled = false;
    this.from = new THREE.Vector3();
    this.way = new THREE.Vector3();
    this.side = new THREE.Vector3();
  }

  update() {
    const { course, data, from, way, side, places, count } = this;
    const now = course.t;
    const step = data.life / count;
    // Drops keep their number as they age, so that they fly instead of flickering.
    const newest = Math.floor(now / step);
    let used = 0;
    for (let k = 0; k < count; k++) {
      const number = data.inward ? newest + 1 + k : newest - k;
      const passed = number * step; // when it is at the mouth
      const age = now - passed;
      if (passed < course.first || passed > course.last || Math.abs(age) > data.life) continue;
      let open = false;
      course.at(passed, () => {
        open = Math.abs(course.scalar(data.rate)) > 1e-12;
        course.point(data.at, from);
        course.vector(data.velocity, way);
      });
      if (!open) continue;
      const speed = way.length();
      side.set(noise(3 * number) - 0.5, noise(3 * number + 1) - 0.5, noise(3 * number + 2) - 0.5);
      way.addScaledVector(side, 2 * data.spread * speed);
      from.addScaledVector(way, age);
      if (this.floor !== null && !data.inward) {
        const height = (from.dot(this.slope) - this.floor) / this.slope.dot(this.up);
        const fallen = Math.max(0.004, (1 - (age / data.life) ** 2) * height);
        from.addScaledVector(this.up, fallen - height);
      }
      from.toArray(places, 3 * used);
      used += 1;
    }
    this.object.geometry.setDrawRange(0, used);
    this.object.geometry.attributes.position.needsUpdate = true;
  }
}

const SCALE = [
  [0, [232, 244, 250]],
  [0.25, [158, 208, 230]],
  [0.5, [72, 158, 201]],
  [0.75, [29, 104, 163]],
  [1, [13, 55, 110]],
];

export function shade(s) {
  for (let i = 1; i < SCALE.length; i++) {
    if (s <= SCALE[i][0]) {
      const [a, one] = SCALE[i - 1];
      const [b, two] = SCALE[i];
      const k = (s - a) / (b - a);
      return one.map((c, j) => Math.round(c + k * (two[j] - c)));
    }
  }
  return SCALE[SCALE.length - 1][1];
}

export class Field {
  constructor(data, course, floor) {
    this.data = data;
    this.course = course;
    this.times = floats(data.times);
    this.maps = bytes(data.values);
    this.cells = data.nx * data.ny;
    this.pixels = new Uint8Array(4 * this.cells);
    this.texture = new THREE.DataTexture(this.pixels, data.nx, data.ny);
    this.texture.magFilter = THREE.LinearFilter;
    this.texture.colorSpace = THREE.SRGBColorSpace;
    const [x0, y0, x1, y1] = data.box;
    const geometry = new THREE.PlaneGeometry(x1 - x0, y1 - y0);
    this.object = new THREE.Mesh(
      geometry,
      new THREE.MeshBasicMaterial({ map: this.texture, transparent: true, depthWrite: false }),
    );
    this.object.position.set((x0 + x1) / 2, (y0 + y1) / 2, floor + 0.002 * (x1 - x0));
    this.object.renderOrder = 1;
    this.palette = Array.from({ length: 256 }, (_, i) => shade(i / 255));
  }

  update() {
    const { times, maps, cells, pixels, palette } = this;
    const t = this.course.t;
    let k = 0;
    while (k < times.length - 2 && times[k + 1] <= t) k += 1;
    const last = times.length > 1 ? k + 1 : k;
    const share = last > k ? Math.min(1, Math.max(0, (t - times[k]) / (times[last] - times[k]))) : 0;
    for (let i = 0; i < cells; i++) {
      const a = maps[k * cells + i];
      const value = a + share * (maps[last * cells + i] - a);
      const color = palette[Math.round(value)];
      pixels[4 * i] = color[0];
      pixels[4 * i + 1] = color[1];
      pixels[4 * i + 2] = color[2];
      pixels[4 * i + 3] = Math.min(235, 9 * value);
    }
    this.texture.needsUpdate = true;
  }
}
