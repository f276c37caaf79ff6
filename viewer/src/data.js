// Numbers of a scene: base64 -> typed arrays, and their values between two frames.

export function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

export const floats = (text) => new Float32Array(bytes(text).buffer);
export const doubles = (text) => new Float64Array(bytes(text).buffer);
export const shorts = (text) => new Int16Array(bytes(text).buffer);

export class Course {
  // Tracks over frames: points and vectors (x, y, z), turns (unit quaternions as 16-bit numbers), scalars.
  constructor(data) {
    this.times = doubles(data.times);
    this.count = this.times.length;
    this.points = (data.wide ? doubles : floats)(data.points);
    this.turns = shorts(data.turns);
    this.vectors = floats(data.vectors);
    this.scalars = floats(data.scalars);
    this.first = this.times[0];
    this.last = this.times[this.count - 1];
    this.seek(this.first);
  }

  seek(t) {
    const { times, count } = this;
    this.t = Math.min(Math.max(t, this.first), this.last);
    let low = 0;
    let high = Math.max(0, count - 2);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= this.t) low = middle;
      else high = middle - 1;
    }
    this.frame = low;
    const step = count > 1 ? times[low + 1] - times[low] : 0;
    this.share = step > 0 ? (this.t - times[low]) / step : 0;
  }

  at(t, action) {
    // Do something at another moment and come back.
    const { t: now, frame, share } = this;
    this.seek(t);
    action();
    this.t = now;
    this.frame = frame;
    this.share = share;
  }

  triple(array, track, out) {
    const i = 3 * (track * this.count + this.frame);
    const j = this.count > 1 ? i + 3 : i;
    const s = this.share;
    out.set(
      array[i] + s * (array[j] - array[i]),
      array[i + 1] + s * (array[j + 1] - array[i + 1]),
      array[i + 2] + s * (array[j + 2] - array[i + 2]),
    );
    return out;
  }

  point(track, out) {
    return this.triple(this.points, track, out);
  }

  vector(track, out) {
    return this.triple(this.vectors, track, out);
  }

  turn(track, out) {
    const q = this.turns;
    const i = 4 * (track * this.count + this.frame);
    const j = this.count > 1 ? i + 4 : i;
    const s = this.share;
    out.set(
      q[i] + s * (q[j] - q[i]),
      q[i + 1] + s * (q[j + 1] - q[i + 1]),
      q[i + 2] + s * (q[j + 2] - q[i + 2]),
      q[i + 3] + s * (q[j + 3] - q[i + 3]),
    );
    return out.normalize();
  }

  rests(solid) {
    // Whether a body neither moves nor turns.
    const steady = (array, width, track) => {
      const own = array.subarray(width * track * this.count, width * (track + 1) * this.count);
      return own.every((e, i) => e === own[i % width]);
    };
    return steady(this.points, 3, solid.point) && steady(this.turns, 4, solid.turn);
  }

  scalar(track) {
    const i = track * this.count + this.frame;
    const j = this.count > 1 ? i + 1 : i;
    return this.scalars[i] + this.share * (this.scalars[j] - this.scalars[i]);
  }
}
