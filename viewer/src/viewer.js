// A scene on a canvas, with controls. Draws only when something changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Course } from "./data.js";
import { Panel } from "./panel.js";
import { Field, Jet, Trace, curve } from "./overlays.js";
import { Arrow, Bar, DARK, FOOT, Many, joined, rod, shape } from "./solids.js";

const LAYERS = {
  traces: "paths", forces: "forces", reactions: "reactions", weights: "weights", couples: "couples",
  jets: "streams", curves: "curves", field: "map", axes: "axes", names: "names",
};
const SHOWN = { traces: true, forces: true, reactions: false, weights: false, couples: false, jets: true, curves: true,
  field: true, axes: false, names: false };

function lattice(count, step) {
  // Lines of few cells: long ones that pass behind the camera are lost by some drivers.
  const half = (count * step) / 2;
  const places = [];
  const cells = 5;
  for (let i = 0; i <= count; i++)
    for (let j = 0; j < count; j += cells) {
      const [a, b, c] = [i * step - half, j * step - half, (j + cells) * step - half];
      places.push(a, 0, b, a, 0, c, b, 0, a, c, 0, a);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  const fill = new THREE.LineBasicMaterial({ color: 0x808a94, transparent: true, opacity: 0.22, depthWrite: false });
  return new THREE.LineSegments(geometry, fill);
}

const round = ({ parts: [part, ...more] }) =>
  !more.length && part.kind === "sphere" && !part.opacity && part.at.every((e) => e === 0);

function software(gl) {
  // Whether there is no graphics hardware behind a context.
  const named = gl.getParameter(gl.RENDERER);
  const more = named === "WebKit WebGL" && gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software|basic render/i.test(more ? gl.getParameter(more.UNMASKED_RENDERER_WEBGL) : named);
}

const AXES = ["#c0392b", "#2e9e5b", "#1769aa"]; // of x, y and z
const MARGIN = 1.07; // room about what is seen
const ABOUT = 1.3; // how much is seen about a body that is followed
const SLOW = 0.035; // seconds from frame to frame at which quality is lowered
const LOWEST = 5;
const COARSE = [2, 1, 1, 0.75, 0.55, 0.4]; // pixels of the picture for one of the page, by how far it was lowered

export class Viewer {
  constructor(host, scene, options = {}) {
    this.host = host;
    this.scene = scene;
    this.course = new Course(scene);
    this.dirty = true;
    this.drawn = 0;
    this.playing = false;
    this.loop = true;
    this.speed = 1;
    this.follow = -1;
    this.parts = [];
    this.roughness = 0; // how far quality was lowered for the sake of smooth motion
    this.intervals = [];
    host.classList.add("appell");
    host.replaceChildren();
    this.stage = document.createElement("div");
    this.stage.className = "stage";
    host.append(this.stage);
    try {
      this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
      this.plain = software(this.renderer.getContext());
      if (this.plain) {
        // Smooth edges cost most there; stills get them from finer pixels instead.
        this.renderer.forceContextLoss();
        this.renderer.dispose();
        this.renderer = new THREE.WebGLRenderer({ antialias: false, preserveDrawingBuffer: true });
      }
    } catch (error) {
      this.poster(options.poster);
      return;
    }
    this.renderer.domElement.addEventListener("webglcontextlost", () => {
      this.lost = true;
      this.onlost?.();
    }, { once: true });
    this.begin();
    this.furnish(SHOWN);
    this.panel = new Panel(this, LAYERS);
    this.observe();
    this.stand();
    if (scene.follow >= 0) this.setFollow(scene.follow);
    this.seek(this.course.first);
    if (this.course.count > 1 && options.play !== false) this.play();
    this.tick = this.tick.bind(this);
    requestAnimationFrame(this.tick);
  }

  poster(source) {
    this.failed = true;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = "This browser has no WebGL, so that only a still is shown.";
    if (source) {
      const picture = document.createElement("img");
      picture.src = source;
      picture.alt = this.scene.title;
      this.stage.append(picture);
    }
    this.stage.append(note);
  }

  begin() {
    // What stays when another scene is shown.
    const { renderer, scene } = this;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    renderer.toneMapping = THREE.NeutralToneMapping;
    this.stage.append(renderer.domElement);
    renderer.domElement.tabIndex = 0;
    renderer.domElement.setAttribute("aria-label", `animation of ${scene.title}`);
    this.up = new THREE.Vector3().fromArray(scene.up);
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => this.touch());
    this.controls.addEventListener("start", () => {
      this.turning = true;
      this.stood = ""; // who has turned it keeps it
    });
    this.controls.addEventListener("end", () => (this.turning = false));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme());
    this.rough = 0;
  }

  furnish(shown) {
    // The world of a scene.
    const { scene, course } = this;
    this.world = new THREE.Scene();
    this.slope = new THREE.Vector3().fromArray(scene.ground);
    this.layers = Object.fromEntries(Object.keys(LAYERS).map((name) => [name, new THREE.Group()]));
    const few = scene.arrows.filter((a) => a.kind === "reaction").length <= 4;
    for (const [name, group] of Object.entries(this.layers)) {
      group.visible = shown[name] || (shown === SHOWN && name === "reactions" && few);
      this.world.add(group);
    }
    this.lights();
    this.ground();
    this.balls = new Many(new THREE.SphereGeometry(1, ...this.fineness()), scene.solids.filter(round).length || 1);
    this.bodies = scene.solids.map((data) => this.body(data));
    if (this.balls.members.length) this.add(this.balls);
    this.bars();
    for (const data of scene.traces) this.add(new Trace(data, course, this.plain), this.layers.traces);
    for (const data of scene.jets) this.add(new Jet(data, course, scene), this.layers.jets);
    for (const data of scene.curves) this.layers.curves.add(curve(data, scene.extent));
    const layer = { force: "forces", reaction: "reactions", weight: "weights", couple: "couples" };
    for (const data of scene.arrows)
      this.add(new Arrow(data, course, 0.55 * scene.size, 0.3 * scene.unit), this.layers[layer[data.kind]]);
    this.pins();
    if (scene.field) this.add(new Field(scene.field, course, scene.floor ?? 0), this.layers.field);
    this.theme();
  }

  show(scene) {
    // Another scene in place of this one: at the same time, seen from the same place.
    const { t } = this.course;
    const { speed, layers } = this;
    const open = this.panel.table?.open;
    this.world.traverse((e) => {
      e.geometry?.dispose();
      for (const fill of [e.material ?? []].flat()) {
        fill.map?.dispose();
        fill.dispose();
      }
      e.dispose?.();
    });
    Object.assign(this, { scene, course: new Course(scene), parts: [], plane: undefined, grid: undefined, step: undefined });
    this.furnish(Object.fromEntries(Object.entries(layers).map(([name, { visible }]) => [name, visible])));
    this.panel.remove();
    this.panel = new Panel(this, LAYERS);
    this.panel.setSpeed(speed);
    if (this.panel.table) this.panel.table.open = open;
    this.seek(t);
  }

  add(part, group = this.world) {
    this.parts.push(part);
    group.add(part.object);
  }

  fineness() {
    // Segments of a sphere: fewer where there are many bodies, and fewer still without graphics hardware.
    const { length } = this.scene.solids;
    return length > 20 ? (this.plain ? [12, 7] : [20, 12]) : length > 8 ? [28, 18] : [40, 24];
  }

  body(data) {
    const { course } = this;
    const object = new THREE.Group();
    const move = (moved) => {
      course.point(data.point, moved.position);
      course.turn(data.turn, moved.quaternion);
    };
    const axes = new THREE.AxesHelper(0.25 * this.scene.size).setColors(...AXES);
    this.add({ object: axes, update: () => move(axes) }, this.layers.axes);
    if (round(data)) {
      const [part] = data.parts;
      object.scale.setScalar(part.size[0]);
      return this.balls.add(object, part.color || data.color, move);
    }
    const parts = new THREE.Group();
    for (const part of data.parts) parts.add(shape(part, data.color));
    object.add(...joined(parts).children);
    this.add({ object, update: () => move(object) });
    return object;
  }

  bars() {
    const { scene, course } = this;
    const rods = scene.bars.filter((e) => e.kind === "rod" || e.kind === "rail");
    if (rods.length) {
      const many = new Many(new THREE.CylinderGeometry(1, 1, 1, rods.length > 20 ? (this.plain ? 7 : 12) : 20), rods.length, { metalness: 0.3, roughness: 0.4 });
      for (const data of rods) many.add(new THREE.Object3D(), data.color, rod(data, course));
      this.add(many);
    }
    for (const data of scene.bars) if (!rods.includes(data)) this.add(new Bar(data, course));
  }

  pins() {
    // Anchors in the ground and joints.
    const { scene, course } = this;
    const { unit, anchors, joints } = scene;
    const put = (geometry, tracks, color, turn) => {
      if (!tracks.length) return;
      const many = new Many(geometry, tracks.length);
      for (const [track, size] of tracks) {
        const object = new THREE.Object3D();
        object.scale.setScalar(size);
        if (turn) object.quaternion.copy(turn);
        many.add(object, color, () => course.point(track, object.position));
      }
      this.add(many);
    };
    const few = anchors.length + joints.length <= 20;
    const upright = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
    const foot = new THREE.CylinderGeometry(0.4, 0.85, 0.9, few ? 32 : 16).translate(0, -0.3, 0);
    put(foot, anchors.map((e) => [e, unit]), FOOT, upright);
    const balls = [...anchors.map((e) => [e, 0.55 * unit]), ...joints.map((e) => [e, 0.48 * unit])];
    put(new THREE.SphereGeometry(1, ...(few ? [24, 16] : this.plain ? [8, 5] : [12, 8])), balls, DARK);
  }

  lights() {
    const { scene } = this;
    const sky = new THREE.HemisphereLight(0xffffff, 0xa8a39a, 2.3);
    sky.position.copy(this.up);
    this.sun = new THREE.DirectionalLight(0xffffff, 2.4);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 4;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02 * scene.unit;
    const fill = new THREE.DirectionalLight(0xdfe9ff, 0.7);
    const [x, y] = this.level();
    this.light = new THREE.Vector3().addScaledVector(this.up, 1.6).addScaledVector(x, 0.7).addScaledVector(y, -0.9);
    if (scene.view === "front") this.light.addScaledVector(new THREE.Vector3().fromArray(scene.normal), 1.5);
    fill.position.copy(this.light).negate().addScaledVector(this.up, 3);
    this.world.add(sky, this.sun, this.sun.target, fill);
  }

  level() {
    // Two directions across `up`.
    const first = Math.abs(this.up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
    const x = first.addScaledVector(this.up, -first.dot(this.up)).normalize();
    return [x, new THREE.Vector3().crossVectors(this.up, x)];
  }

  ground() {
    const { scene } = this;
    if (scene.floor === null) return;
    const span = 3 * scene.extent;
    this.floor = new THREE.Group();
    const plane = new THREE.Mesh(
      new THREE.CircleGeometry(span, 96),
      new THREE.MeshStandardMaterial({ roughness: 0.95, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }),
    );
    plane.receiveShadow = true;
    this.plane = plane;
    this.floor.add(plane);
    this.floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.slope);
    const middle = new THREE.Vector3().fromArray(scene.center);
    middle.addScaledVector(this.slope, scene.floor - middle.dot(this.slope));
    this.floor.position.copy(middle);
    this.world.add(this.floor);
  }

  ruled() {
    // A grid of round steps about what is seen: on the floor, or behind a plane.
    const { scene } = this;
    const span = this.follow >= 0 ? 5 * scene.size : scene.extent;
    const step = [1, 2, 5, 10].map((k) => k * 10 ** Math.floor(Math.log10(span / 12))).find((s) => span / s <= 16);
    if (this.step === step) return;
    this.step = step;
    if (this.grid) this.world.remove(this.grid);
    this.grid = lattice(60, step);
    this.across = scene.floor === null ? new THREE.Vector3().fromArray(scene.normal) : this.slope.clone();
    this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.across);
    this.world.add(this.grid);
  }

  placeGrid(target) {
    this.ruled();
    const { scene, across, step, grid } = this;
    const inverse = grid.quaternion.clone().invert();
    const local = target.clone().applyQuaternion(inverse);
    const height = scene.floor === null
      ? target.dot(across) - 0.25 * scene.size
      : scene.floor + 0.01 * step;
    local.set(step * Math.round(local.x / step), height, step * Math.round(local.z / step));
    grid.position.copy(local.applyQuaternion(grid.quaternion));
  }

  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.host.classList.toggle("dark", dark);
    const back = new THREE.Color(dark ? 0x1b2026 : 0xf3f5f7);
    this.world.background = back;
    if (this.plane) {
      this.plane.material.color.set(dark ? 0x232a31 : 0xe9ecef);
      this.world.fog = new THREE.Fog(back, 4 * this.scene.extent, 9 * this.scene.extent);
    }
    this.touch();
  }

  // Camera.

  fitted(way, middle) {
    // Where to look and from how far so that the outermost points are seen: of everything, or, when following, of what
    // moves about the body.
    const { scene, follow } = this;
    const tan = Math.tan((this.camera.fov * Math.PI) / 360);
    const right = new THREE.Vector3().crossVectors(this.up, way);
    if (right.length() < 1e-3) right.copy(this.level()[0]);
    right.normalize();
    const over = new THREE.Vector3().crossVectors(way, right);
    const about = follow >= 0 ? ABOUT : 1;
    const cube = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, (k >> 1) & 1, (k >> 2) & 1].map((s) => (s - 0.5) * scene.size));
    const listed = follow >= 0 && follow !== scene.follow ? cube : scene.outline;
    const points = listed.map((e) => new THREE.Vector3().fromArray(e).multiplyScalar(about));
    const seen = points.map((p) => [p.dot(right), p.dot(over), p.dot(way)]);
    const free = [this.camera.aspect, 1 - this.headed()];
    let far = 0;
    const shift = [0, 0];
    for (let round = 0; round < 4; round++) {
      // What is near seems larger: the middle of the picture depends on the distance, and this on the middle.
      far = Math.max(...seen.map((e) => e[2] + MARGIN * Math.max(...[0, 1].map((i) => Math.abs(e[i] - shift[i]) / (tan * free[i])))));
      for (const i of [0, 1]) {
        const slopes = seen.map((e) => (e[i] - shift[i]) / (far - e[2]));
        const deep = far - seen.reduce((a, e) => a + e[2], 0) / seen.length;
        shift[i] += ((Math.max(...slopes) + Math.min(...slopes)) / 2) * deep;
      }
    }
    far = Math.max(...seen.map((e) => e[2] + MARGIN * Math.max(...[0, 1].map((i) => Math.abs(e[i] - shift[i]) / (tan * free[i])))));
    return [Math.max(far, 1e-6 * scene.size), middle.addScaledVector(right, shift[0]).addScaledVector(over, shift[1])];
  }

  headed() {
    // The share of the height that the title takes.
    const title = this.stage.querySelector(".title");
    return title ? Math.min(0.25, (title.offsetTop + title.offsetHeight) / (this.stage.clientHeight || Infinity)) : 0;
  }

  stand(name = "default") {
    const { scene } = this;
    this.stood = name;
    const [x, y] = this.level();
    const normal = new THREE.Vector3().fromArray(scene.normal);
    const ways = {
      front: scene.view === "front" ? normal : y.clone().negate().addScaledVector(this.up, 0.05),
      side: scene.view === "front" ? new THREE.Vector3().crossVectors(this.up, normal) : x.clone().addScaledVector(this.up, 0.05),
      top: this.up.clone().addScaledVector(y, -0.002),
      oblique: new THREE.Vector3().addScaledVector(y, -1).addScaledVector(x, 0.55).addScaledVector(this.up, 0.62),
    };
    if (scene.view === "front")
      ways.oblique = normal.clone().addScaledVector(this.up, 0.35).addScaledVector(new THREE.Vector3().crossVectors(this.up, normal), 0.5);
    const chosen = name === "default" ? { front: "front", top: "top", floor: "oblique", space: "oblique" }[scene.view] : name;
    const way = ways[chosen].normalize();
    const [fit, middle] = this.fitted(way, this.middle());
    const lift = this.headed() * fit * Math.tan((this.camera.fov * Math.PI) / 360);
    middle.addScaledVector(this.up.clone().addScaledVector(way, -this.up.dot(way)), lift);
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(way, fit);
    this.camera.near = fit / 200;
    this.camera.far = fit * 20 + 10 * scene.extent;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.touch();
  }

  middle() {
    if (this.follow >= 0) return this.course.point(this.scene.solids[this.follow].point, new THREE.Vector3());
    return new THREE.Vector3().fromArray(this.scene.center);
  }

  setFollow(number) {
    this.follow = number;
    this.last = this.middle();
    this.stand();
    this.panel?.sync();
  }

  // Time.

  seek(t) {
    this.course.seek(t);
    this.touch();
  }

  play() {
    if (this.course.count < 2 || this.failed) return;
    if (this.course.t >= this.course.last) this.course.seek(this.course.first);
    this.playing = true;
    this.before = undefined;
    this.panel.sync();
  }

  pause() {
    this.playing = false;
    this.panel?.sync();
  }

  setLayer(name, on) {
    this.layers[name].visible = on;
    this.touch();
  }

  touch() {
    this.dirty = true;
  }

  observe() {
    const fit = () => {
      const { clientWidth: width, clientHeight: height } = this.stage;
      if (!width || !height) return;
      this.renderer.setPixelRatio(this.density());
      this.renderer.setSize(width, height, false);
      const turned = this.camera.aspect !== width / height;
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      if (turned && this.stood) this.stand(this.stood);
      this.touch();
    };
    this.refit = fit;
    new ResizeObserver(fit).observe(this.stage);
    this.visible = true;
    new IntersectionObserver((seen) => (this.visible = seen[seen.length - 1].isIntersecting)).observe(this.host);
    fit();
  }

  tick(now) {
    if (this.lost) return;
    requestAnimationFrame(this.tick);
    if (!this.visible) {
      this.before = undefined;
      return;
    }
    this.controls.update();
    if (this.playing) {
      if (this.before !== undefined) {
        const step = Math.min(0.25, (now - this.before) / 1000);
        let t = this.course.t + this.speed * step;
        if (t >= this.course.last) {
          if (this.loop) t = this.course.first;
          else this.pause();
        }
        this.seek(t);
        this.judge(step);
      }
      this.before = now;
    }
    if (this.dirty) {
      if (this.moving()) this.dress(Math.min(this.roughness, LOWEST));
      this.render();
      this.rest = now;
    } else if (this.rough > 0 && !this.playing && now - this.rest > 250) this.dress(0);
  }

  moving() {
    return this.playing || this.turning;
  }

  judge(step) {
    // Where frames are slow, quality goes down step by step; a picture that rests is fine again.
    this.intervals.push(step);
    if (this.intervals.length < 5) return;
    const mean = this.intervals.reduce((a, b) => a + b) / this.intervals.length;
    this.intervals = [];
    if (mean > SLOW && this.roughness < LOWEST) {
      this.roughness += mean > 3 * SLOW ? 2 : 1;
      this.dress(Math.min(this.roughness, LOWEST));
    }
  }

  density() {
    return this.plain && this.rough === 0 ? 2 : Math.min(devicePixelRatio, COARSE[this.rough]);
  }

  dress(rough) {
    // 0: all there is; 1: simple shadows; 2: none; from 3 on: coarse pixels.
    if (this.rough === rough) return;
    this.rough = rough;
    const { shadow } = this.sun;
    this.sun.castShadow = rough < 2;
    const size = rough === 0 ? 2048 : 1024;
    if (shadow.mapSize.x !== size) {
      shadow.mapSize.set(size, size);
      shadow.map?.dispose();
      shadow.map = null;
    }
    this.refit?.();
    this.touch();
  }

  render() {
    this.dirty = false;
    for (const part of this.parts) if (part.object.parent.visible) part.update();
    if (this.follow >= 0) {
      const here = this.middle();
      const step = here.clone().sub(this.last);
      this.camera.position.add(step);
      this.controls.target.add(step);
      this.last = here;
    }
    const reach = this.follow >= 0 ? 2.5 * this.scene.size : 1.25 * this.scene.reach;
    const target = this.middle();
    this.placeGrid(target);
    this.sun.target.position.copy(target);
    this.sun.position.copy(target).addScaledVector(this.light, 2 * reach);
    const eye = this.sun.shadow.camera;
    if (eye.right !== reach) {
      eye.left = eye.bottom = -reach;
      eye.right = eye.top = reach;
      eye.near = 0.1 * reach;
      eye.far = 9 * reach;
      eye.updateProjectionMatrix();
    }
    this.renderer.render(this.world, this.camera);
    this.drawn += 1;
    this.panel.update();
  }
}
