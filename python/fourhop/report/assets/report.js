// The interactive side of the report: a theme button, and for each figure a chart with values to read and series to
// switch, all of it by mouse and by keyboard. Without this script the page shows everything but that.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", null];
  const DASHES = [[], [6, 3], [6, 3, 1, 3], [2, 3]];
  const POINTS = ["circle", "rect", "rectRot", "triangle", "crossRot", "star", "cross"];
  const colour = (index) => PALETTE[index % PALETTE.length] || style("--ink");
  const live = new Map();

  const number = (value) =>
    value === null || value === undefined ? "unknown"
      : Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));

  const sentence = (chart, line, index) => {
    const [place, of] = split(chart.x_label);
    const where = chart.kind === "bars" ? String(line.x[index]) : `${place} ${number(line.x[index])} ${of}`.trim();
    const range = line.low[index] === null ? "" : ` [${number(line.low[index])}, ${number(line.high[index])}]`;
    const value = line.y[index] === null ? "not known" : `${number(line.y[index])}${range} ${split(chart.y_label)[1]}`.trim();
    return `${line.label ? line.label + ", " : ""}${where ? where + ": " : ""}${value}`;
  };
  // A label is a name and its unit: `goodput (kbit/s)`.
  const split = (label) => (/^(.*?)\s*(?:\(([^()]*)\))?\s*$/.exec(label).slice(1).map((part) => part || ""));

  // Chart.js draws no intervals of its own.
  const intervals = {
    id: "intervals",
    afterDatasetsDraw(drawn) {
      const { ctx, scales, chartArea } = drawn;
      ctx.save();
      ctx.beginPath();
      ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
      ctx.clip();
      drawn.data.datasets.forEach((set, number) => {
        const meta = drawn.getDatasetMeta(number);
        if (!drawn.isDatasetVisible(number) || set.kind === "series") return;
        ctx.strokeStyle = set.kind === "bars" ? style("--ink") : set.borderColor;
        ctx.lineWidth = 1.25;
        meta.data.forEach((point, index) => {
          const [low, high] = [set.low[index], set.high[index]];
          if (low === null || high === null || !Number.isFinite(point.x)) return;
          const [top, bottom] = [scales.y.getPixelForValue(high), scales.y.getPixelForValue(low)];
          ctx.beginPath();
          ctx.moveTo(point.x, top); ctx.lineTo(point.x, bottom);
          ctx.moveTo(point.x - 4, top); ctx.lineTo(point.x + 4, top);
          ctx.moveTo(point.x - 4, bottom); ctx.lineTo(point.x + 4, bottom);
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  };

  const build = (canvas, chart) => {
    const bars = chart.kind === "bars";
    const names = bars ? [...new Set(chart.lines.flatMap((line) => line.x.map(String)))] : null;
    const at = (list, line) => names.map((name) => { const i = line.x.map(String).indexOf(name); return i < 0 ? null : list[i]; });
    const datasets = chart.lines.map((line, index) => ({
      kind: chart.kind,
      label: line.label,
      data: bars ? at(line.y, line) : line.x.map((x, i) => ({ x, y: line.y[i] })),
      low: bars ? at(line.low, line) : line.low,
      high: bars ? at(line.high, line) : line.high,
      pointRadius: chart.kind === "series" ? 0 : 4,
      pointHoverRadius: 6, pointHitRadius: 8, borderWidth: chart.kind === "series" ? 1.5 : 2,
      pointStyle: POINTS[index % POINTS.length], borderDash: DASHES[index % DASHES.length], spanGaps: false,
    }));
    const values = chart.lines.flatMap((line) => line.y.filter((y) => y !== null));
    const tops = chart.lines.flatMap((line) => line.high.filter((y) => y !== null));
    const largest = Math.max(0, ...values);
    // A tick at each place that was measured, while they are few.
    const places = [...new Set(chart.lines.flatMap((line) => line.x))];
    const ticks = (axis) => { if (chart.kind === "lines" && places.length <= 20) axis.ticks = places.map((value) => ({ value })); };
    const made = new Chart(canvas, {
      type: bars ? "bar" : "line",
      data: bars ? { labels: names, datasets } : { datasets },
      plugins: [intervals],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: bars ? undefined : true,
        interaction: { mode: "nearest", intersect: false, axis: bars ? "x" : "xy" },
        scales: {
          x: bars ? { grid: { display: false } }
            : { type: chart.x_log ? "logarithmic" : "linear", title: { display: true, text: chart.x_label }, grid: { display: false },
              bounds: "data", min: chart.kind === "series" ? 0 : undefined, offset: chart.kind === "lines", afterBuildTicks: ticks },
          y: {
            title: { display: true, text: chart.y_label },
            min: chart.y_min === null ? undefined : chart.y_min,
            max: chart.y_max !== null ? chart.y_max : largest > 0 && Math.max(...tops, 0) > 2 * largest ? 2 * largest : undefined,
            suggestedMax: Math.max(largest, ...tops.filter((y) => y <= 2 * largest), 0),
          },
        },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { title: () => "", label: (item) => sentence(chart, chart.lines[item.datasetIndex], place(chart, item)) } },
        },
      },
    });
    paint(made);
    return made;
  };
  const place = (chart, item) =>
    chart.kind === "bars" ? chart.lines[item.datasetIndex].x.map(String).indexOf(item.label) : item.dataIndex;

  const paint = (made) => {
    const [ink, soft, grid] = [style("--ink"), style("--soft"), style("--grid")];
    made.data.datasets.forEach((set, index) => {
      set.borderColor = set.backgroundColor = set.pointBackgroundColor = colour(index);
    });
    for (const scale of Object.values(made.options.scales)) {
      scale.ticks = { ...scale.ticks, color: soft };
      scale.border = { color: soft };
      if (scale.title) scale.title.color = ink;
    }
    made.options.scales.y.grid = { color: grid };
    Object.assign(made.options.plugins.tooltip, { backgroundColor: ink, bodyColor: style("--page") });
    made.update();
  };

  // Arrow keys move over the values: left and right along a series, up and down between the series that are shown.
  const keys = (event, made, chart, readout, cursor) => {
    const shown = chart.lines.map((_, index) => index).filter((index) => made.isDatasetVisible(index));
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9], End: [0, 1e9] }[event.key];
    if (!step || !shown.length) return;
    event.preventDefault();
    const row = shown.indexOf(cursor.line);
    cursor.line = shown[row < 0 ? 0 : (row + step[0] + shown.length) % shown.length];
    const line = chart.lines[cursor.line];
    cursor.index = cursor.index < 0 ? 0 : Math.min(line.x.length - 1, Math.max(0, cursor.index + step[1]));
    const index = chart.kind === "bars" ? made.data.labels.indexOf(String(line.x[cursor.index])) : cursor.index;
    const active = [{ datasetIndex: cursor.line, index }];
    const point = made.getDatasetMeta(cursor.line).data[index];
    made.setActiveElements(active);
    made.tooltip.setActiveElements(active, { x: point.x, y: point.y });
    made.update();
    readout.textContent = sentence(chart, line, cursor.index);
  };

  const open = (figure) => {
    const chart = charts[figure.dataset.chart];
    const box = figure.querySelector(".live");
    if (!live.has(figure)) {
      const plot = document.createElement("div");
      plot.className = "plot";
      const canvas = document.createElement("canvas");
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "application");
      canvas.setAttribute("aria-label", `${figure.dataset.label}. Arrow keys move over the values.`);
      plot.append(canvas);
      const readout = document.createElement("div");
      readout.className = "readout";
      readout.setAttribute("aria-live", "polite");
      readout.textContent = "Point at a value, or use the arrow keys on the chart.";
      box.append(plot, readout);
      const made = build(canvas, chart);
      const cursor = { line: -1, index: -1 };
      canvas.addEventListener("keydown", (event) => keys(event, made, chart, readout, cursor));
      if (chart.lines.length > 1) box.append(switches(made, chart));
      live.set(figure, made);
    }
    // At once, and again when the page has been laid out with the chart in it.
    live.get(figure).resize();
    requestAnimationFrame(() => live.get(figure).resize());
  };

  const switches = (made, chart) => {
    const set = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = "Show";
    set.append(legend);
    chart.lines.forEach((line, index) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "checkbox";
      input.checked = true;
      input.addEventListener("change", () => made.setDatasetVisibility(index, input.checked) || made.update());
      const key = document.createElement("span");
      key.className = "key";
      key.style.background = PALETTE[index % PALETTE.length] || "var(--ink)";
      label.append(input, key, document.createTextNode(line.label));
      set.append(label);
    });
    return set;
  };

  const show = (figure, on) => {
    const button = figure.querySelector("button.explore");
    button.setAttribute("aria-pressed", String(on));
    figure.querySelector(".still").hidden = on;
    figure.querySelector(".live").hidden = !on;
    if (on) open(figure);
  };
  document.querySelectorAll("figure[data-chart]").forEach((figure) => {
    const button = figure.querySelector("button.explore");
    button.hidden = false;
    button.addEventListener("click", () => show(figure, button.getAttribute("aria-pressed") !== "true"));
  });

  const theme = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const label = () => {
    theme.textContent = isDark() ? "Light page" : "Dark page";
    live.forEach(paint);
  };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();
})();
