"use strict";
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;

function ground() { return chosen ?? (system.matches ? "dark" : "light"); }

function ink() {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return { "font.color": read("--muted"), "hoverlabel.bgcolor": read("--card"), "hoverlabel.bordercolor": read("--line"), "hoverlabel.font.color": read("--ink") };
}

function paint() {
  root.dataset.ground = ground();
  for (const plot of document.querySelectorAll(".plot.js-plotly-plot")) Plotly.relayout(plot, ink());
}

function tell(plot, point) {
  // A trace whose points have a command each says where in their data it stands.
  const place = point.data.meta?.command;
  if (place === undefined || !point.customdata?.[place]) return;
  const figure = plot.closest("figure");
  let command = figure.querySelector(":scope > .command");
  if (!command) {
    command = document.createElement("code");
    command.className = "command";
    figure.querySelector("figcaption").after(command);
  }
  command.textContent = point.customdata[place].replaceAll("<br>", " ");
}

// What a large figure shows is packed, and so is Plotly; see `_packed` in render.py.
const texts = new Map();

function text(script) {
  if (!("packed" in script.dataset)) return script.textContent;
  if (!texts.has(script)) texts.set(script, unpack(script));
  return texts.get(script);
}

async function unpack(script) {
  const letters = atob(script.textContent);
  // A loop takes a tenth of the time of `Uint8Array.from` with a function.
  const octets = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) octets[place] = letters.charCodeAt(place);
  const plain = new Blob([octets]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).text();
}

// Plotly is most of the page and takes a second to start, so it starts when the first figure is about to come into view.
async function start() {
  const plotly = await text(document.getElementById("plotly"));
  if (window.Plotly) return;
  const script = document.createElement("script");
  script.textContent = plotly;
  document.head.append(script);
}

function idle() {
  return new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));
}

// What is wider than the page scrolls in a box of its own, which says so.
function mark(box) {
  box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
  if (box.classList.contains("wide")) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
}

async function drawOne(plot) {
  if (plot.drawn) return;
  plot.drawn = true;
  const figure = JSON.parse(await text(plot.querySelector("script")));
  await start();
  const least = figure.layout.meta?.least_width;
  if (least) {
    plot.style.minWidth = `${least}px`;
    mark(plot.closest(".scroll"));
  } else if (figure.layout.xaxis3 && plot.clientWidth < 700 && !figure.layout.yaxis3?.domain?.some((edge) => edge > 0 && edge < 1)) {
    plot.style.width = "900px";
    mark(plot.closest(".scroll"));
  }
  const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"], toImageButtonOptions: { format: "svg" } };
  await Plotly.newPlot(plot, figure.data, narrow(figure, plot), options);
  plot.on("plotly_click", (event) => tell(plot, event.points[0]));
  await Plotly.relayout(plot, ink());
}

function isInView(element) {
  const box = element.getBoundingClientRect();
  return box.top < innerHeight && box.bottom > 0;
}

// The page has loaded when the figures in view are drawn, for whoever takes a picture of it then. A document that is open holds the load event.
async function drawBeforeLoad(plots) {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  document.body.append(frame);
  frame.contentDocument.open();
  await Promise.allSettled(plots.map(drawOne));
  frame.contentDocument.close();
  frame.remove();
}

function draw() {
  root.dataset.ground = ground();
  // A figure is drawn when it is about to come into view, so that a page of many opens at once; a printed page needs them all.
  const plots = [...document.querySelectorAll(".plot")];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); drawOne(entry.target); }
  }, { rootMargin: "1200px" });
  // Only of parts in view: to ask where a figure is makes the browser lay out its part.
  const first = plots.filter((plot) => isInView(plot.closest(".part") ?? plot) && isInView(plot));
  if (first.length) drawBeforeLoad(first);
  plots.forEach((plot) => seen.observe(plot));
  // Printing cannot wait, so all are unpacked before, while nothing else is to be done.
  addEventListener("load", async () => {
    for (const script of document.querySelectorAll("script[data-packed]")) {
      await idle();
      await text(script);
    }
  });
  addEventListener("beforeprint", () => plots.forEach(drawOne));
}

// A number as it is written in a table: with narrow spaces between thousands, or as mean ± half of an interval.
function value(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/,/g, ""));
  return cell.classList.contains("num") ? (Number.isNaN(number) ? -Infinity : number) : text;
}

function sort(table, column, head) {
  const down = head.ariaSort === "ascending";
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  head.ariaSort = down ? "descending" : "ascending";
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const [a, b] = [value(one.cells[column]), value(other.cells[column])];
    return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sorts")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => sort(table, column, head)));
}
for (const field of document.querySelectorAll(".filter")) {
  const rows = field.closest("figure").querySelector("tbody").rows;
  field.addEventListener("input", () => {
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
  });
}

const widths = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
document.querySelectorAll(".scroll").forEach((box) => widths.observe(box));

document.getElementById("ground").addEventListener("click", () => { chosen = ground() === "dark" ? "light" : "dark"; paint(); });
system.addEventListener("change", paint);
draw();
