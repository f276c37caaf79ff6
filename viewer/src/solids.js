// Shapes of bodies, rods, springs and arrows as three.js objects.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";

// Tyres, pins and feet stand out from the background that the page begins with.
const night = matchMedia("(prefers-color-scheme: dark)").matches;
export const DARK = night ? 0x8b97a3 : 0x2b333b;
export const FOOT = night ? 0x65717c : 0x4a545e;
const EDGES = new THREE.LineBasicMaterial({ color: 0x2b333b, transparent: true, opacity: 0.35 });

export function material(color, more = {}) {
  return new THREE.MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.08, ...more });
}

function mesh(geometry, fill) {
  const made = new THREE.Mesh(geometry, fill);
  made.castShadow = made.receiveShadow = true;
  return made;
}

function edged(geometry, fill, angle = 30) {
  const made = mesh(geometry, fill);
  made.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, angle), EDGES));
  return made;
}

function painted(geometry, color) {
  // A geometry with a colour at every vertex and nothing else that would keep it from being joined with others.
  const made = geometry.index ? geometry.toNonIndexed() : geometry;
  for (const name of Object.keys(made.attributes))
    if (!["position", "normal", "color"].includes(name)) made.deleteAttribute(name);
  if (!made.attributes.color) {
    const one = new THREE.Color(color);
    const colors = new Float32Array(3 * made.attributes.position.count);
    for (let i = 0; i < colors.length; i += 3) one.toArray(colors, i);
    made.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  }
  return made;
}

export function joined(group) {
  // Everything a body is made of as one mesh and one set of edges: two calls instead of dozens.
  group.updateMatrixWorld(true);
  const faces = [];
  const edges = [];
  const glass = []; // what one sees through stays by itself
  group.traverse((e) => {
    if (e.material?.depthWrite === false) {
      const own = new THREE.Mesh(e.geometry.clone().applyMatrix4(e.matrixWorld), e.material);
      glass.push(own);
    } else if (e.isLineSegments) edges.push(e.geometry.clone().applyMatrix4(e.matrixWorld));
    else if (e.isMesh) faces.push(painted(e.geometry.clone().applyMatrix4(e.matrixWorld), e.material.color));
  });
  const made = new THREE.Group();
  if (faces.length) {
    const fill = material(0xffffff, { vertexColors: true, side: THREE.DoubleSide });
    made.add(mesh(mergeGeometries(faces), fill));
  }
  if (edges.length) made.add(new THREE.LineSegments(mergeGeometries(edges), EDGES));
  if (glass.length) made.add(...glass);
  return made;
}

const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);

export class Many {
  // Things of one form that differ by place, size and colour: one call for all of them.
  constructor(geometry, count, more = {}) {
    this.object = new THREE.InstancedMesh(geometry, material(0xffffff, more), count);
    this.object.castShadow = this.object.receiveShadow = true;
    this.object.frustumCulled = false;
    this.members = [];
    this.colors = [];
  }

  add(object, color, update) {
    const number = this.members.push({ object, update }) - 1;
    this.object.setColorAt(number, new THREE.Color(color));
    return object;
  }

  update() {
    // As seen from the first of them: the graphics card has 32-bit numbers, which are coarse far from the origin.
    const base = this.object.position;
    this.members.forEach(({ object, update }, i) => {
      update(object);
      if (i === 0) base.copy(object.position);
      object.position.sub(base);
      object.updateMatrix();
      object.position.add(base);
      this.object.setMatrixAt(i, object.visible ? object.matrix : HIDDEN);
    });
    this.object.instanceMatrix.needsUpdate = true;
  }
}

// three.js builds cylinders along y; ours lie along z.
const standing = (geometry) => geometry.rotateX(Math.PI / 2);

function wheel(radius, width, color) {
  const group = new THREE.Group();
  const tyre = Math.min(0.14 * radius, Math.max(0.5 * width, 0.05 * radius));
  const profile = [];
  const r0 = radius - 2 * tyre;
  for (let i = 0; i <= 16; i++) {
    const a = -Math.PI / 2 + (Math.PI * i) / 16;
    profile.push(new THREE.Vector2(radius - tyre + tyre * Math.cos(a), (width / 2) * Math.sin(a)));
  }
  profile.push(new THREE.Vector2(r0, width / 2), new THREE.Vector2(r0, -width / 2), profile[0].clone());
  group.add(mesh(standing(new THREE.LatheGeometry(profile, 64)), material(DARK, { roughness: 0.8 })));
  const disc = material(color, { side: THREE.DoubleSide });
  const rim = new THREE.TorusGeometry(r0, 0.035 * radius, 10, 64);
  group.add(mesh(rim, disc));
  const hub = standing(new THREE.CylinderGeometry(0.15 * radius, 0.15 * radius, Math.max(0.8 * width, 0.04 * radius), 32));
  group.add(mesh(hub, disc));
  for (let i = 0; i < 6; i++) {
    const spoke = mesh(
      new THREE.BoxGeometry(r0, 0.07 * radius, Math.max(0.35 * width, 0.02 * radius)),
      i === 0 ? material(0xf2c14e) : disc,
    );
    const a = (i * Math.PI) / 3;
    spoke.position.set((r0 / 2) * Math.cos(a), (r0 / 2) * Math.sin(a), 0);
    spoke.rotation.z = a;
    group.add(spoke);
  }
  return group;
}

function ball(radius, color, clear) {
  const geometry = new THREE.SphereGeometry(radius, 48, 32).toNonIndexed();
  const places = geometry.attributes.position;
  const one = new THREE.Color(color);
  const two = new THREE.Color(0xe2dccf);
  const colors = new Float32Array(3 * places.count);
  for (let i = 0; i < places.count; i += 3) {
    let [x, y, z] = [0, 0, 0];
    for (let k = i; k < i + 3; k++) {
      x += places.getX(k);
      y += places.getY(k);
      z += places.getZ(k);
    }
    const chosen = x * y * z > 0 ? one : two;
    for (let k = i; k < i + 3; k++) chosen.toArray(colors, 3 * k);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  return mesh(geometry, material(0xffffff, { vertexColors: true, roughness: 0.35, ...clear }));
}

function plate(part, fill) {
  const outline = new THREE.Shape(part.points.map(([x, y]) => new THREE.Vector2(x, y)));
  const thickness = part.size[0];
  const geometry = new THREE.ExtrudeGeometry(outline, {
    depth: thickness,
    bevelEnabled: true,
    bevelSize: 0.7 * thickness,
    bevelThickness: 0.25 * thickness,
    bevelSegments: 3,
  });
  geometry.translate(0, 0, -thickness / 2);
  return edged(geometry, fill, 40);
}

function polyhedron(part, fill) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(part.points.flat(), 3));
  geometry.setIndex(part.faces.flat());
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return part.faces.length < 200 ? edged(flat, fill, 12) : mesh(flat, fill);
}

export function shape(part, color) {
  const clear = part.opacity ? { transparent: true, opacity: part.opacity, depthWrite: false, side: THREE.DoubleSide } : {};
  const fill = material(part.color || color, clear);
  const [a, b, c] = part.size;
  const made = {
    box: () => edged(new THREE.BoxGeometry(a, b, c), fill),
    cylinder: () => edged(standing(new THREE.CylinderGeometry(a, a, b, 48)), fill),
    cone: () => mesh(standing(new THREE.ConeGeometry(a, b, 48)), fill),
    capsule: () => mesh(standing(new THREE.CapsuleGeometry(a, b, 10, 24)), fill),
    wheel: () => wheel(a, b, part.color || color),
    sphere: () => mesh(new THREE.SphereGeometry(a, 40, 24), fill),
    ball: () => ball(a, part.color || color, clear),
    plate: () => plate(part, fill),
    mesh: () => polyhedron(part, fill),
  }[part.kind]();
  const holder = new THREE.Group();
  holder.add(made);
  holder.position.fromArray(part.at);
  holder.quaternion.fromArray(part.turn);
  return holder;
}

const Y = new THREE.Vector3(0, 1, 0);
const scratch = { a: new THREE.Vector3(), b: new THREE.Vector3(), d: new THREE.Vector3() };

export function between(object, a, b, radius) {
  // Stretch something of unit length along y from a to b.
  const d = scratch.d.subVectors(b, a);
  const length = d.length();
  object.visible = length > 1e-9;
  if (!object.visible) return;
  object.position.addVectors(a, b).multiplyScalar(0.5);
  object.quaternion.setFromUnitVectors(Y, d.multiplyScalar(1 / length));
  object.scale.set(radius, length, radius);
}

class Coil extends THREE.Curve {
  constructor(radius, length) {
    super();
    this.radius = radius;
    this.length = length;
  }

  getPoint(s, target = new THREE.Vector3()) {
    const turns = 9;
    const end = 0.08;
    const inner = Math.min(Math.max((s - end) / (1 - 2 * end), 0), 1);
    const swell = this.radius * Math.min(1, 12 * Math.min(inner, 1 - inner));
    const angle = 2 * Math.PI * turns * inner;
    return target.set(swell * Math.cos(angle), this.length * (s - 0.5), swell * Math.sin(angle));
  }
}

export function rod(data, course) {
  return (object) => between(object, course.point(data.a, scratch.a), course.point(data.b, scratch.b), data.radius);
}

export class Bar {
  // A spring or a damper.
  constructor(data, course) {
    this.data = data;
    this.course = course;
    this.object = new THREE.Group();
    const fill = material(data.color, { metalness: 0.3, roughness: 0.4 });
    const piece = () => mesh(new THREE.CylinderGeometry(1, 1, 1, 20), fill);
    if (data.kind === "spring") {
      // As long as it is at first; later it is stretched.
      this.length = course.point(data.a, scratch.a).distanceTo(course.point(data.b, scratch.b)) || 10 * data.radius;
      const coil = new Coil(data.radius, this.length);
      this.main = mesh(new THREE.TubeGeometry(coil, 360, 0.14 * data.radius, 8), fill);
    } else {
      this.main = piece();
      this.case = piece();
      this.object.add(this.case);
    }
    this.object.add(this.main);
  }

  update() {
    const { a, b } = scratch;
    this.course.point(this.data.a, a);
    this.course.point(this.data.b, b);
    if (this.case) {
      between(this.main, a, b, 0.35 * this.data.radius);
      between(this.case, a, b.lerp(a, 0.45), this.data.radius);
    } else {
      between(this.main, a, b, this.data.radius);
      this.main.scale.set(1, a.distanceTo(b) / this.length, 1);
    }
  }
}

export const ARROW_COLORS = { force: 0x1769aa, reaction: 0xc0392b, weight: 0x6c757d, couple: 0x7b3fa0 };

export class Arrow {
  constructor(data, course, length, thickness) {
    this.data = data;
    this.course = course;
    this.scale = length / data.scale;
    this.thickness = thickness;
    const fill = material(ARROW_COLORS[data.kind], { roughness: 0.6 });
    this.object = new THREE.Group();
    this.shaft = mesh(new THREE.CylinderGeometry(1, 1, 1, 16), fill);
    this.heads = [mesh(new THREE.ConeGeometry(1, 1, 24), fill)];
    if (data.kind === "couple") this.heads.push(mesh(new THREE.ConeGeometry(1, 1, 24), fill));
    this.object.add(this.shaft, ...this.heads);
    this.from = new THREE.Vector3();
    this.to = new THREE.Vector3();
    this.way = new THREE.Vector3();
  }

  update() {
    const { from, to, way, thickness } = this;
    this.course.point(this.data.at, from);
    this.course.vector(this.data.vector, way).multiplyScalar(this.scale);
    const length = way.length();
    this.object.visible = length > 0.6 * thickness;
    if (!this.object.visible) return;
    const head = Math.min(5 * thickness, 0.6 * length);
    way.multiplyScalar(1 / length);
    to.copy(from).addScaledVector(way, length);
    this.heads.forEach((cone, i) => {
      cone.position.copy(to).addScaledVector(way, -head / 2 - 0.6 * i * head);
      cone.quaternion.setFromUnitVectors(Y, way);
      cone.scale.set(0.42 * head, head, 0.42 * head);
    });
    between(this.shaft, from, to.addScaledVector(way, -0.9 * head), 0.5 * thickness);
  }
}
