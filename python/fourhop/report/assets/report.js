// The interactive part of the report: a theme button, and for each figure a chart with readable values and selectable
// series, by mouse and keyboard. The page also works without this script.
"use strict";
(() => {
  const root = document.documentElement;
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const POINTS = { circle: ["circle", 0], square: ["rect", 0], diamond: ["rectRot", 0], triangle: ["triangle", 0], "triangle down": ["triangle", 180] };
  const live = new Map();

  const number = (value) =>
    value === null || value === undefined ? "unknown"
      : Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));

  const sentence = (chart, curve, index) => {
    const { name, unit, ticks } = chart.x;
    const group = () => (ticks.find(([place]) => place === curve.x[index]) || ["", ""])[1].replaceAll("\n", " ").trim();
    const where = chart.kind === "bars" ? group() : `${name} ${number(curve.x[index])} ${unit}`.trim();
    const range = known(curve, index) ? ` [${number(curve.low[index])}, ${number(curve.high[index])}]` : "";
    const value = curve.y[index] === null ? "unknown" : `${number(curve.y[index])}${range} ${chart.y.unit}`.trim();
    return `${curve.label ? curve.label + ", " : ""}${where ? where + ": " : ""}${value}`;
  };
  const known = (curve, index) => (curve.low[index] ?? null) !== null;

  // Chart.js itself draws no intervals.
  const intervals = {
    id: "intervals",
    afterDatasetsDraw(drawn) {
      const { ctx, scales, chartArea } = drawn;
      ctx.save();
      ctx.beginPath();
      ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
      ctx.clip();
      drawn.data.datasets.forEach((set, number) => {
        if (!drawn.isDatasetVisible(number)) return;
        const { curve } = set;
        ctx.strokeStyle = set.bars ? style("--ink") : set.borderColor;
        ctx.lineWidth = 1.25;
        drawn.getDatasetMeta(number).data.forEach((point, place) => {
          const index = set.bars ? curve.x.indexOf(place) : place;
          if (!known(curve, index) || !Number.isFinite(point.x)) return;
          // A cap, or an arrow where the interval extends beyond the axis.
          const ends = [[curve.high, curve.cut_high, chartArea.top, 6], [curve.low, curve.cut_low, chartArea.bottom, -6]];
          const [top, bottom] = ends.map(([end]) => scales.y.getPixelForValue(end[index]));
          ctx.beginPath();
          ctx.moveTo(point.x, top); ctx.lineTo(point.x, bottom);
          for (const [end, cut, edge, back] of ends) {
            const leaves = cut.includes(index);
            const y = leaves ? edge : scales.y.getPixelForValue(end[index]);
            ctx.moveTo(point.x - 4, y + (leaves ? back : 0));
            if (leaves) ctx.lineTo(point.x, y);
            ctx.lineTo(point.x + 4, y + (leaves ? back : 0));
          }
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  };

  const build = (canvas, chart) => {
    const bars = chart.kind === "bars";
    const groups = chart.x.ticks.map(([, label]) => label.split("\n"));
    const datasets = chart.curves.map((curve) => {
      const [pointStyle, pointRotation] = POINTS[curve.marker];
      return {
        bars, curve,
        label: curve.label,
        data: bars ? groups.map((_, group) => curve.y[curve.x.indexOf(group)] ?? null) : curve.x.map((x, i) => ({ x, y: curve.y[i] })),
        pointRadius: chart.kind === "lines" ? 4 : 0,
        pointHoverRadius: 6, pointHitRadius: 8, borderWidth: 2, pointBorderWidth: 1.5, pointStyle, pointRotation,
        borderDash: curve.dash.map((part) => 2 * part), stepped: chart.steps ? "before" : false, spanGaps: false,
        categoryPercentage: 0.8, barPercentage: 0.92,
      };
    });
    const axis = ({ name, unit, low, high, ticks, log }) => ({
      type: log ? "logarithmic" : "linear", min: low, max: high,
      title: { display: true, text: unit ? `${name} (${unit})` : name },
      afterBuildTicks: (scale) => { scale.ticks = ticks.map(([value]) => ({ value })); },
      ticks: { callback: (value) => (ticks.find(([place]) => place === value) || ["", ""])[1] },
    });
    const made = new Chart(canvas, {
      type: bars ? "bar" : "line",
      data: { labels: bars ? groups : undefined, datasets },
      plugins: [intervals],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: false, axis: bars ? "x" : "xy" },
        scales: { x: { ...(bars ? {} : axis(chart.x)), grid: { display: false } }, y: axis(chart.y) },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { title: () => "", label: (item) => {
            const { curve } = item.dataset;
            return sentence(chart, curve, bars ? curve.x.indexOf(item.dataIndex) : item.dataIndex);
          } } },
        },
      },
    });
    paint(made);
    return made;
  };

  const paint = (made) => {
    const [ink, soft, grid] = [style("--ink"), style("--soft"), style("--grid")];
    for (const set of made.data.datasets) {
      set.borderColor = set.curve.colour || ink;
      // A value without an interval gets an open marker.
      const fill = ({ dataIndex }) => {
        const index = set.bars ? set.curve.x.indexOf(dataIndex) : dataIndex;
        return set.curve.low[index] === null ? style("--page") : set.borderColor;
      };
      Object.assign(set, set.bars ? { backgroundColor: fill } : { pointBackgroundColor: fill });
    }
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
    const shown = chart.curves.map((_, index) => index).filter((index) => made.isDatasetVisible(index));
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9], End: [0, 1e9] }[event.key];
    if (!step || !shown.length) return;
    event.preventDefault();
    const row = shown.indexOf(cursor.line);
    cursor.line = shown[row < 0 ? 0 : (row + step[0] + shown.length) % shown.length];
    const line = chart.curves[cursor.line];
    cursor.index = cursor.index < 0 ? 0 : Math.min(line.x.length - 1, Math.max(0, cursor.index + step[1]));
    const index = chart.kind === "bars" ? line.x[cursor.index] : cursor.index;
    const active = [{ datasetIndex: cursor.line, index }];
    const point = made.getDatasetMeta(cursor.line).data[index];
    made.setActiveElements(active);
    made.tooltip.setActiveElements(active, { x: point.x, y: point.y });
    made.update();
    readout.textContent = sentence(chart, line, cursor.index);
  };

  const open = (figure) => {
    const chart = JSON.parse(figure.querySelector("script").textContent);
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
      readout.textContent = matchMedia("(hover: hover)").matches ? "Point at a value, or focus the chart and use the arrow keys." : "Tap a value.";
      box.append(plot, readout);
      const made = build(canvas, chart);
      const cursor = { line: -1, index: -1 };
      canvas.addEventListener("keydown", (event) => keys(event, made, chart, readout, cursor));
      if (chart.curves.some((curve) => curve.label)) box.append(switches(made, chart));
      live.set(figure, made);
    }
    // Now, and again after the page layout includes the chart.
    live.get(figure).resize();
    requestAnimationFrame(() => live.get(figure).resize());
  };

  const switches = (made, chart) => {
    const set = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = "Show";
    set.append(legend);
    chart.curves.forEach((curve, index) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "checkbox";
      input.checked = true;
      input.addEventListener("change", () => made.setDatasetVisibility(index, input.checked) || made.update());
      const key = document.createElement("span");
      key.className = "key";
      const colour = curve.colour || "var(--ink)";
      const [on, off] = curve.dash.map((part) => 2 * part);
      const dashed = on && chart.kind !== "bars";
      key.style.background = dashed ? `repeating-linear-gradient(90deg, ${colour} 0 ${on}px, transparent 0 ${on + off}px)` : colour;
      label.append(input, key, document.createTextNode(curve.label));
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
  document.querySelectorAll("figure[data-label]").forEach((figure) => {
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
