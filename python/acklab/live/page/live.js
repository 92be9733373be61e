// Draws each sample of the run as it arrives. A page that is opened late receives the earlier samples too.
"use strict";

// As many as the server keeps: two hours.
const MAX_SAMPLES = 7200;
const samples = [];
const ink = getComputedStyle(document.body).color;
const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#5C6770"];

// The lines of each plot: from a sample to values by name.
const plots = {
  throughput: (sample) => sample.flows.map((flow) => [flow.flow, flow.throughput]),
  rtt: (sample) => sample.flows.map((flow) => [flow.flow, flow.srtt ?? flow.delay]),
  queue: (sample) => [
    ...sample.links.map((link) => [link.link, link.queue]),
    ...sample.cells.flatMap((cell) => Object.entries(cell.queues)),
  ],
  rate: (sample) => sample.links.map((link) => [link.link, link.rate]),
  acks: (sample) => sample.flows.map((flow) => [flow.flow, flow.acks]),
  losses: (sample) => [
    ...sample.flows.map((flow) => [flow.flow, flow.retransmissions]),
    ...sample.links.filter((link) => link.drops).map((link) => [`drops ${link.link}`, link.drops]),
    ...sample.links.filter((link) => link.filtered).map((link) => [`filtered ${link.link}`, link.filtered]),
  ],
  airtime: (sample) =>
    sample.cells.flatMap((cell) => Object.entries(cell.airtime).map(([use, share]) => [`${cell.cell} ${use}`, share])),
  lateness: (sample) => (sample.lateness ? ["p50", "p99", "max"].map((name) => [name, sample.lateness[name]]) : []),
};

function lines(of) {
  const byName = new Map();
  samples.forEach((sample, index) => {
    for (const [name, value] of of(sample)) {
      if (!byName.has(name)) byName.set(name, new Array(samples.length).fill(null));
      byName.get(name)[index] = value;
    }
  });
  const times = samples.map((sample) => sample.time);
  return [...byName]
    .filter(([, values]) => values.some((value) => value !== null && value !== undefined))
    .map(([name, values], index) => ({
      name, x: times, y: values, mode: "lines+markers", marker: { size: 4 }, line: { color: colours[index % colours.length] },
    }));
}

function draw() {
  const last = samples.at(-1);
  for (const [id, of] of Object.entries(plots)) {
    const drawn = lines(of);
    const place = document.getElementById(id);
    place.parentElement.hidden = drawn.length === 0;
    if (drawn.length === 0) continue;
    // The legend is below the plot, in as many lines as its names take.
    const longest = Math.max(...drawn.map((line) => line.name.length));
    const legend = 20 * Math.ceil(drawn.length / Math.max(1, Math.floor((place.clientWidth - 56) / (44 + 7 * longest))));
    place.style.height = `${220 + legend}px`;
    const layout = {
      margin: { l: 48, r: 8, t: 8, b: 44 + legend }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", font: { color: ink },
      xaxis: { range: [samples[0].time > 1 ? samples[0].time : 0, last.duration ?? Math.max(last.time, 60)], title: { text: "s", standoff: 4 }, gridcolor: "#8883" },
      yaxis: { rangemode: "tozero", gridcolor: "#8883", ...(id === "airtime" ? { tickformat: ".0%" } : {}) },
      showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", maxheight: 0.9 }, uirevision: "kept",
    };
    Plotly.react(place, drawn, layout, { displayModeBar: false, responsive: true });
  }
  document.getElementById("state").textContent = last.duration === null ? `${last.time} s` : `${last.time} of ${last.duration} s`;
  const late = last.lateness;
  document.getElementById("late").textContent = late
    ? `${late.deliveries} packets, late by ${late.p50.toFixed(0)} µs in the median and ${late.max.toFixed(0)} µs at most`
    : "";
}

const stream = new EventSource("samples");
stream.onmessage = (event) => {
  samples.push(JSON.parse(event.data));
  if (samples.length > MAX_SAMPLES) samples.shift();
  draw();
};
stream.addEventListener("over", () => {
  stream.close();
  document.getElementById("state").textContent += " · the run is over";
});
stream.onerror = () => {
  stream.close();
  document.getElementById("state").textContent += " · no connection to the run";
};
