"use strict";
// The layout of a figure, changed for a telephone if its place is as narrow: less room around it, and smaller letters.
function narrow(figure, plot) {
  const { layout, data } = figure;
  if (plot.clientWidth >= 560) return layout;
  const margin = { ...layout.template?.layout?.margin, ...layout.margin };
  // A small margin at the right is for half of the last number of an axis; what stands beside the plot goes into it.
  layout.margin = { ...margin, l: 46, r: margin.r > 32 ? 8 : margin.r };
  for (const note of layout.annotations ?? []) if (note.x === 1 && note.xanchor === "left") Object.assign(note, { xanchor: "right", yanchor: "bottom" });
  layout.font = { ...layout.font, size: 11 };
  // Each name of a legend may take a line. All legends are below: above, the buttons of the figure would cover them.
  const names = data.filter((trace) => trace.name && trace.showlegend !== false).length;
  if (!layout.height || layout.showlegend === false || (names < 2 && !layout.showlegend)) return layout;
  const more = 17 * (layout.legend?.yref === "container" ? Math.max(0, names - 3) : names);
  layout.legend = { ...layout.legend, yref: "container", y: 0, yanchor: "bottom", maxheight: 0.9 };
  layout.margin.b = (layout.margin.b ?? 52) + more;
  layout.height += more;
  plot.style.height = `${layout.height}px`;
  return layout;
}
