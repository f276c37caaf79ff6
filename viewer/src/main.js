// Finds the scenes of a page and shows them.
import { Knobs } from "./knobs.js";
import { Viewer } from "./viewer.js";

const viewers = [];
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches; // nothing moves before it is asked to

function still(source, words) {
  const picture = document.createElement("img");
  Object.assign(picture, { src: source, alt: words });
  Object.assign(picture.style, { display: "block", width: "100%", height: "100%", objectFit: "contain" });
  return picture;
}

function start() {
  for (const host of document.querySelectorAll("[data-scene]")) {
    if (host.dataset.started) continue;
    host.dataset.started = "yes";
    const scene = JSON.parse(document.getElementById(host.dataset.scene).textContent);
    const poster = document.getElementById(`${host.dataset.scene}-poster`)?.textContent;
    const knobs = document.getElementById(`${host.dataset.scene}-knobs`);
    const begin = (before) => {
      const viewer = new Viewer(host, scene, { poster, play: host.dataset.play !== "no" && !calm });
      if (knobs && !viewer.failed) viewer.knobs = new Knobs(viewer, JSON.parse(knobs.textContent), before?.knobs);
      if (before) {
        viewer.seek(before.course.t);
        if (!before.playing) viewer.pause();
        viewers[viewers.indexOf(before)] = viewer;
      } else viewers.push(viewer);
      viewer.onlost = () => whenSeen(host, () => begin(viewer));
    };
    if (host.dataset.lazy && poster) host.append(still(poster, scene.title)); // also in print, of what nobody went to
    if (host.dataset.lazy || self !== top) whenSeen(host, () => begin());
    else begin();
  }
}

function whenSeen(host, then) {
  // A browser keeps the drawings of some sixteen scenes, of all the frames of a notebook, and drops the oldest.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((e) => e.isIntersecting)) return;
    seen.disconnect();
    then();
  }, { rootMargin: "400px" });
  seen.observe(host);
}

function key(event) {
  // On a page that is a scene and nothing else, keys are the scene's also before it has the focus.
  if (event.target === document.body && document.querySelector(".alone")) viewers[0]?.panel?.key(event);
}

globalThis.appell = { viewers, start };
document.addEventListener("keydown", key);
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
