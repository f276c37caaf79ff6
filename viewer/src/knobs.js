// Sliders that choose among the scenes of a page: one for each quantity that was varied.
import { element } from "./panel.js";

export class Knobs {
  constructor(viewer, { names, values, scenes }, before) {
    // names[k] has the values values[k]; scenes are the ids of their data, the last name running fastest. They stand
    // as those before them did.
    Object.assign(this, { viewer, values, scenes });
    const row = element("div", "knobs");
    this.sliders = names.map((name, k) => {
      const label = element("label");
      const slider = element("input");
      const value = element("output");
      Object.assign(slider, { type: "range", min: 0, max: values[k].length - 1, step: 1, value: 0, title: name });
      slider.addEventListener("input", () => this.turn());
      label.append(element("span", "", name), slider, value);
      row.append(label);
      return [slider, value];
    });
    viewer.host.prepend(row);
    before?.sliders.forEach(([slider], k) => (this.sliders[k][0].value = slider.value));
    if (before) this.turn();
    else this.tell();
  }

  get chosen() {
    return this.sliders.reduce((at, [slider], k) => at * this.values[k].length + Number(slider.value), 0);
  }

  tell() {
    this.sliders.forEach(([slider, value], k) => (value.textContent = this.values[k][slider.value]));
  }

  turn() {
    this.tell();
    cancelAnimationFrame(this.waiting); // while a slider is drawn, only the last place counts
    this.waiting = requestAnimationFrame(() => {
      const data = document.getElementById(this.scenes[this.chosen]).textContent;
      this.viewer.show(JSON.parse(data));
    });
  }
}
