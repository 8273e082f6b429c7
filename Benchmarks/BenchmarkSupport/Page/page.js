'use strict';
// Draws the report from the data in the page. Texts of the data are only ever set as text, never parsed as HTML.
(function () {
  window.addEventListener('error', (event) => { document.documentElement.dataset.error = event.message; });
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('main');
  main.textContent = '';

  // Elements and numbers

  function element(name, attributes, ...children) {
    return filled(document.createElement(name), attributes, children);
  }
  function shape(name, attributes, ...children) {
    return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
  }
  function filled(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  function number(value) {
    const size = Math.abs(value);
    if (size === 0) return '0';
    if (size >= 99.95) return Math.round(value).toLocaleString('en');
    return value.toFixed(size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3);
  }
  function quantity(value, unit) {
    if (unit === 'ns' && value >= 1e6) return number(value / 1e6) + ' ms';
    if (unit === 'ns' && value >= 1e4) return number(value / 1e3) + ' µs';
    if (unit === 'B' && value >= 1e4) return number(value / 1e3) + ' kB';
    return number(value) + (unit === 'ratio' ? '' : ' ' + unit);
  }
  // The least of a unit that can be told from nothing (FigureUnit.resolution).
  const resolutions = { ns: 0.01, B: 1 };
  // The value below which that part of the samples is, between two of them if it must be.
  function quantile(samples, fraction) {
    const sorted = [...samples].sort((a, b) => a - b);
    const position = fraction * (sorted.length - 1);
    const index = Math.floor(position);
    return sorted[index] + (sorted[Math.min(index + 1, sorted.length - 1)] - sorted[index]) * (position - index);
  }
  // Whether repetitions vary too much or are too few, or it is one of few items (CellResult.saysLittle).
  function isWeak(result) { return result.isThin || saysLittle(result.samples, result.unit); }
  function saysLittle(samples, unit) {
    if (!samples || !samples.length) return false;
    const middle = quantile(samples, 0.5);
    const isWide = middle > 0 && (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle > 0.25;
    return samples.length < 4 || isWide || Math.max(...samples) > 10 * Math.max(Math.min(...samples), resolutions[unit] || 0.001);
  }
  // What stands before a figure: ~ if it says little, ≥ if it is a lower bound.
  function marks(result) {
    return (isWeak(result) ? '~' : '') + (result.isLowerBound ? '≥' : '');
  }
  // The ratio of two medians, with ~ if one of the two says little.
  function ratioOf(result, reference) {
    return (isWeak(result) || isWeak(reference) ? '~' : '') + number(result.median / reference.median);
  }
  function median(result) { return marks(result) + quantity(result.median, result.unit); }
  function unique(values) { return [...new Set(values)]; }
  // The known placement that most have; the nearest one if several have as many (CorePlacement.prevailing).
  function prevailing(results) {
    const votes = ['sibling', 'near', 'far'].map((name) => [name, results.filter((result) => result.placement === name).length]);
    const most = Math.max(...votes.map(([, count]) => count));
    return most ? votes.find(([, count]) => count === most)[0] : 'unknown';
  }

  // What belongs to a case

  const resultsOf = new Map();
  for (const result of data.results) {
    if (!resultsOf.has(result.case)) resultsOf.set(result.case, []);
    resultsOf.get(result.case).push(result);
  }
  const named = (name) => resultsOf.get(name) || [];
  // The limit of the group that these results are of: measured in the same rounds, and in the placement of the cores that most of
  // them have. Another group of the same limit may have been placed otherwise.
  function limitOf(one, results) {
    if (!one.limit || !results.length) return null;
    const placement = prevailing(results);
    const bounded = results.find((result) => result.limit && result.limit.length && result.placement === placement);
    if (!bounded) return null;
    const scale = one.limit.scale === 1 ? '' : `${one.limit.scale} × `;
    return { name: scale + one.limit.name, value: quantile(bounded.limit, 0.5) };
  }

  const preferred = { c: 0, swift: 1, mutex: 2, 'pthread-mutex': 3, actor: 4, dispatch: 5 };
  function styles(variants) {
    const taken = new Set(variants.filter((name) => name in preferred).map((name) => preferred[name]));
    const free = [0, 1, 6, 7, 5, 4, 3, 2].filter((index) => !taken.has(index));
    return new Map(variants.map((name, index) => {
      const color = name in preferred ? preferred[name] : free.length ? free.shift() : index % 8;
      return [name, { color: `var(--c${color})`, mark: index % 6 }];
    }));
  }
  function mark(kind, x, y, size, attributes) {
    const s = size;
    const paths = [
      null,
      `M${x - s} ${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
      `M${x} ${y - 1.3 * s}L${x + 1.2 * s} ${y + s}H${x - 1.2 * s}z`,
      `M${x} ${y - 1.4 * s}L${x + 1.4 * s} ${y}L${x} ${y + 1.4 * s}L${x - 1.4 * s} ${y}z`,
      `M${x} ${y + 1.3 * s}L${x + 1.2 * s} ${y - s}H${x - 1.2 * s}z`,
      `M${x - s} ${y - s}L${x + s} ${y + s}M${x + s} ${y - s}L${x - s} ${y + s}`,
    ];
    return kind === 0
      ? shape('circle', { cx: x, cy: y, r: s, ...attributes })
      : shape('path', { d: paths[kind], ...attributes });
  }

  // Tooltips: for the pointer and for the keyboard

  const tooltip = document.getElementById('tooltip');
  function explain(node, text) {
    node.setAttribute('tabindex', '0');
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', text);
    const show = () => {
      const box = node.getBoundingClientRect();
      tooltip.textContent = text;
      tooltip.hidden = false;
      const own = tooltip.getBoundingClientRect();
      tooltip.style.left = Math.max(4, Math.min(box.right + 8, innerWidth - own.width - 8)) + 'px';
      tooltip.style.top = Math.max(4, box.top - own.height - 8) + 'px';
    };
    const hide = () => { tooltip.hidden = true; };
    node.addEventListener('pointerenter', show);
    node.addEventListener('pointerleave', hide);
    node.addEventListener('focus', show);
    node.addEventListener('blur', hide);
    return node;
  }
  function description(result, place, reference) {
    const lines = [
      `${result.variant}, ${place}`,
      `${median(result)} (${quantity(result.min, result.unit)} to ${quantity(result.max, result.unit)})`,
    ];
    if (reference && reference !== result && reference.median > 0) {
      lines.push(`${ratioOf(result, reference)} × ${reference.variant}`);
    }
    if (result.shareOfLimit) {
      const mark = isWeak(result) || saysLittle(result.limit, result.unit) ? '~' : '';
      lines.push(`${mark}${number(result.shareOfLimit * 100)} % of the machine's limit`);
    }
    if (result.allocationsPerAction !== null && result.allocationsPerAction !== undefined) {
      lines.push(`${number(result.allocationsPerAction < 0.001 ? 0 : result.allocationsPerAction)} allocations per action`);
    }
    lines.push(`${result.samples.length} repetitions, cores ${result.placement}`);
    if (!result.verified) lines.push('WRONG RESULT');
    return lines.join('\n');
  }

  // Axes

  function logTicks(low, high) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const factor of [1, 2, 5]) {
        const tick = factor * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    }
    if (ticks.length <= 7) return ticks;
    return ticks.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-6);
  }
  function linearTicks(high) {
    const rough = high / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
    const ticks = [];
    for (let tick = 0; tick <= high * 1.001; tick += step) ticks.push(tick);
    return ticks;
  }
  // Logarithmic if the values differ by more than 12 times, and from zero otherwise.
  function valueScale(values, from, to) {
    const positive = values.filter((value) => value > 0);
    const high = Math.max(...positive, 1e-9);
    const low = Math.min(...positive, high);
    const size = to - from;
    if (high / low > 12) {
      const [bottom, top] = [Math.log10(low / 1.25), Math.log10(high * 1.25)];
      const map = (value) => from + (Math.log10(Math.max(value, low / 1.25)) - bottom) / (top - bottom) * size;
      return { map, ticks: logTicks(10 ** bottom, 10 ** top), isLog: true };
    }
    return { map: (value) => from + value / (high * 1.08) * size, ticks: linearTicks(high * 1.08), isLog: false };
  }

  // A chart of lines: `columns` are {label, x?, results}; x is a number for a logarithmic axis.

  function lineChart(columns, options) {
    const [width, height, left, right, top, bottom] = [640, 310, 62, 14, 18, 44];
    const all = columns.flatMap((column) => column.results);
    const variants = unique(all.map((result) => result.variant));
    const style = styles(variants);
    const emphasized = variants.includes('c') ? 'c' : variants[0];
    const unit = all[0].unit;
    const limits = columns.map((column) => column.limit).filter(Boolean);
    const values = all.flatMap((result) => [result.min, result.median, result.max]);
    const scale = valueScale(values.concat(limits.map((limit) => limit.value)), height - bottom, top);
    const positions = columns.map((column, index) => {
      const inner = width - left - right - 40;
      if (columns.length === 1) return left + 20 + inner / 2;
      if (column.x === undefined) return left + 20 + index / (columns.length - 1) * inner;
      const [first, last] = [columns[0].x, columns[columns.length - 1].x].map(Math.log);
      return left + 20 + (Math.log(column.x) - first) / (last - first) * inner;
    });
    const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': options.title });
    for (const tick of scale.ticks) {
      const y = scale.map(tick);
      svg.append(
        shape('line', { class: 'gridline', x1: left, x2: width - right, y1: y, y2: y }),
        shape('text', { x: left - 7, y: y + 4, 'text-anchor': 'end' }, axisLabel(tick, unit)));
    }
    svg.append(shape('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
    columns.forEach((column, index) => svg.append(
      shape('text', { x: positions[index], y: height - bottom + 17, 'text-anchor': 'middle' }, column.label)));
    svg.append(shape('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle' },
      `${options.axis}${scale.isLog ? ' · vertical axis logarithmic' : ''}`));
    let limitText = null;
    if (limits.length) {
      const points = columns.map((column, index) => column.limit && [positions[index], scale.map(column.limit.value)])
        .filter(Boolean);
      if (points.length === 1) points.unshift([left, points[0][1]]), points.push([width - right, points[0][1]]);
      const line = shape('path', { class: 'limit', d: path(points) });
      const text = `limit of the machine: ${columns.find((column) => column.limit).limit.name}`;
      svg.append(line);
      limitText = shape('text', { class: 'over', x: width - right, y: points[points.length - 1][1] - 6, 'text-anchor': 'end' }, text);
    }
    const layers = new Map();
    [...variants].reverse().forEach((variant) => {
      const { color, mark: kind } = style.get(variant);
      const layer = shape('g', {});
      const cells = columns.map((column) => column.results.find((result) => result.variant === variant));
      const points = cells.map((cell, index) => cell && [positions[index], scale.map(cell.median)]).filter(Boolean);
      layer.append(shape('path', {
        class: variant === emphasized ? 'series first' : 'series', stroke: color, d: path(points),
      }));
      cells.forEach((cell, index) => {
        if (!cell) return;
        const [x, column] = [positions[index], columns[index]];
        layer.append(shape('line', {
          class: 'spread', stroke: color, x1: x, x2: x, y1: scale.map(cell.min), y2: scale.map(cell.max),
        }));
        layer.append(explain(
          mark(kind, x, scale.map(cell.median), 4.2, markStyle(cell, prevailing(column.results), color)),
          description(cell, `${options.place(column)}`, column.results[0])));
      });
      layers.set(variant, layer);
      svg.append(layer);
    });
    if (limitText) svg.append(limitText);
    return [legend(variants, style, layers), svg];
  }
  // A round number, with a unit for times and sizes; the others have theirs in the caption.
  function axisLabel(value, unit) {
    const steps = { ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']], B: [[1e6, 'MB'], [1e3, 'kB'], [1, 'B']] }[unit];
    const [scale, name] = steps ? steps.find(([size]) => value >= size) || steps[steps.length - 1] : [1, ''];
    const text = Number((value / scale).toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
    return name && value ? `${text} ${name}` : text;
  }
  function path(points) { return points.map(([x, y], index) => `${index ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join(''); }
  // Hollow: measured in another placement of the cores than the rest of the column.
  function markStyle(cell, placement, color) {
    if (!cell.verified) return { class: 'mark wrong' };
    return cell.placement === placement ? { class: 'mark', fill: color, stroke: color } : { class: 'mark other', stroke: color };
  }
  function legend(variants, style, layers) {
    const buttons = variants.map((variant) => {
      const { color, mark: kind } = style.get(variant);
      const sample = shape('svg', { viewBox: '0 0 16 12', 'aria-hidden': 'true' },
        shape('path', { class: 'series', stroke: color, d: 'M0 6H16' }), mark(kind, 8, 6, 3.6, { fill: color, stroke: color }));
      const button = element('button', { type: 'button', 'aria-pressed': 'true' }, sample, variant);
      button.addEventListener('click', () => {
        const isShown = button.getAttribute('aria-pressed') === 'true';
        button.setAttribute('aria-pressed', String(!isShown));
        layers.get(variant).style.display = isShown ? 'none' : '';
      });
      return button;
    });
    return element('div', { class: 'legend' }, ...buttons);
  }

  const threads = (result) => result.producers === 1 ? '1 thread' : `${result.producers} threads`;

  // A chart of bars: one for each variant, with the range of its repetitions.

  function barChart(results, limit, title) {
    const [width, left, right, rowHeight] = [640, 150, 70, 26];
    const variants = results.map((result) => result.variant);
    const style = styles(variants);
    const height = results.length * rowHeight + 30;
    const values = results.flatMap((result) => [result.median, result.max]).concat(limit ? [limit.value] : []);
    const scale = valueScale(values, left, width - right);
    const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': title });
    for (const tick of scale.ticks) {
      const x = scale.map(tick);
      svg.append(
        shape('line', { class: 'gridline', x1: x, x2: x, y1: 0, y2: height - 24 }),
        shape('text', { x, y: height - 8, 'text-anchor': 'middle' }, axisLabel(tick, results[0].unit)));
    }
    results.forEach((result, index) => {
      const y = index * rowHeight + 5;
      const color = style.get(result.variant).color;
      const end = scale.map(result.median);
      svg.append(shape('text', { x: left - 9, y: y + 12, 'text-anchor': 'end' }, result.variant));
      const isOther = result.placement !== prevailing(results);
      // The length of a bar says something only if the axis begins at zero.
      const drawnAs = scale.isLog
        ? mark(style.get(result.variant).mark, end, y + 7.5, 5, markStyle(result, prevailing(results), color))
        : shape('rect', {
          class: result.verified ? 'mark' : 'mark wrong', x: left, y, width: Math.max(1, end - left), height: 15, rx: 2,
          fill: color, stroke: color, 'fill-opacity': isOther ? 0.15 : 0.75,
        });
      const range = shape('line', {
        class: 'spread', stroke: scale.isLog ? color : 'var(--text)', x1: scale.map(result.min), x2: scale.map(result.max),
        y1: y + 7.5, y2: y + 7.5,
      });
      const marked = explain(drawnAs, description(result, threads(result), results[0]));
      svg.append(...(scale.isLog ? [range, marked] : [marked, range]));
      svg.append(shape('text', { x: Math.max(end, scale.map(result.max)) + 6, y: y + 12 }, median(result)));
    });
    if (limit) {
      const x = scale.map(limit.value);
      svg.append(explain(shape('line', { class: 'limit', x1: x, x2: x, y1: 0, y2: height - 24 }),
        `limit of the machine: ${limit.name}, ${quantity(limit.value, results[0].unit)}`));
    }
    return [svg, scale.isLog ? element('p', { class: 'note' }, 'Logarithmic axis.') : null].filter(Boolean);
  }

  // Cards

  function figuresTable(head, rows) {
    return element('div', { class: 'scroll' }, element('table', {},
      element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))),
      element('tbody', {}, ...rows.map((cells) => element('tr', {}, ...cells.map((cell) =>
        cell instanceof Node ? cell : element('td', {}, cell)))))));
  }
  function figureCell(result, reference) {
    if (!result) return element('td', {}, '–');
    const ratio = reference && reference !== result && reference.median > 0 && !['ratio', 'per action'].includes(result.unit)
      ? ` · ${ratioOf(result, reference)}×` : '';
    return element('td', result.verified ? {} : { class: 'missed' }, median(result),
      element('small', {}, `${number(result.min)}–${number(result.max)}${ratio}`));
  }
  function card(name, text, chart, columns) {
    const variants = unique(columns.flatMap((column) => column.results.map((result) => result.variant)));
    const rows = variants.map((variant) => [variant, ...columns.map((column) =>
      figureCell(column.results.find((result) => result.variant === variant), column.results[0]))]);
    const cases = unique(columns.flatMap((column) => column.results.map((result) => result.case)));
    return element('figure', { 'data-case': cases.join(' ') },
      element('figcaption', {}, element('h3', {}, name), element('p', {}, text)), ...chart,
      element('details', {}, element('summary', {}, 'Figures'),
        figuresTable(['', ...columns.map((column) => column.label)], rows)));
  }
  function lines(name, text, columns, options) {
    const shown = columns.filter((column) => column.results.length);
    if (!shown.length) return null;
    return card(name, text, lineChart(shown, { title: name, ...options }), shown);
  }
  function bars(name, text, results, limit) {
    if (!results.length) return null;
    return card(name, text, barChart(results, limit, name), [{ label: 'median', results }]);
  }

  // Cases of each kind

  function byThreads(one, name, text, results, threads) {
    const counts = unique(results.map((result) => result.producers)).sort((a, b) => a - b);
    const columns = counts.map((count) => {
      const own = results.filter((result) => result.producers === count);
      return { label: String(count), x: count, results: own, limit: limitOf(one, own) };
    });
    return lines(name, text, columns, { axis: `number of ${threads}`, place: (column) => `${column.label} ${threads}` });
  }
  const partName = (one, part) => `${one.name}.${part.name}`;
  // Cases such as state.size.10, state.size.1000, …: their number is the horizontal axis.
  function familyOf(one) {
    if (one.curve) return one.curve;
    const match = /^(.*)\.(\d+)$/.exec(one.name);
    return match ? { name: match[1], x: Number(match[2]) } : null;
  }
  const families = new Map();
  for (const one of data.cases) {
    const family = familyOf(one);
    if (!family) continue;
    if (!families.has(family.name)) families.set(family.name, []);
    families.get(family.name).push({ one, x: family.x });
  }
  for (const [name, members] of families) {
    members.sort((a, b) => a.x - b.x);
    if (members.length < 3) families.delete(name);
  }
  function curves(name, members) {
    const parts = members[0].one.parts.length ? members[0].one.parts : [null];
    return parts.map((part) => {
      // A logarithmic axis has no zero.
      const columns = members.map(({ one, x }) => {
        const results = named(part ? partName(one, part) : one.name);
        return {
          // Large numbers would run into each other.
          label: x.toLocaleString('en', x >= 1e5 ? { notation: 'compact', maximumSignificantDigits: 4 } : {}),
          x: Math.max(x, 0.5), results, limit: limitOf(one, results),
        };
      });
      const isLatency = members[0].one.kind === 'latency';
      const axis = isLatency ? 'thousand items per second' : members[0].one.curve ? members[0].one.curve.axis : 'size';
      const text = isLatency ? 'from when an item was due until it was reduced, by load'
        : members[0].one.kind === 'throughput' ? 'million actions per second' : `by ${axis}`;
      return lines(part ? `${name}.*.${part.name}` : `${name}.*`, (part && part.meaning) || text, columns,
        { axis, place: (column) => column.label });
    });
  }
  const drawn = new Set();
  function cards(one) {
    const family = familyOf(one);
    if (family && families.has(family.name)) {
      if (drawn.has(family.name)) return [];
      drawn.add(family.name);
      return curves(family.name, families.get(family.name));
    }
    switch (one.kind) {
      case 'throughput':
        return [byThreads(one, one.name, 'million actions per second', named(one.name), 'producers')];
      case 'race': {
        const unit = named(one.name).length ? named(one.name)[0].unit : '';
        const text = unit === 'ns' ? 'nanoseconds; less is better' : 'million items per second';
        const results = named(one.name);
        return unique(results.map((result) => result.producers)).length > 1
          ? [byThreads(one, one.name, text, results, 'producers')] : [bars(one.name, text, results, null)];
      }
      case 'readers':
        return one.parts.map((part) =>
          byThreads(one, partName(one, part), part.meaning, named(partName(one, part)), 'readers'));
      case 'time':
        return [bars(one.name, 'time per action on one thread; less is better', named(one.name), limitOf(one, named(one.name)))];
      case 'latency': {
        const times = one.parts.filter((part) => part.unit === 'ns');
        const columns = times.map((part) => {
          const results = named(partName(one, part));
          return { label: part.name, results, limit: limitOf(one, results) };
        });
        return [
          lines(one.name, 'from the time at which an item was due until it was reduced; less is better', columns,
            { axis: 'percentile', place: (column) => column.label }),
          ...one.parts.filter((part) => part.unit !== 'ns').map((part) =>
            bars(partName(one, part), 'how often for each action', named(partName(one, part)), null)),
        ];
      }
      default:
        return one.parts.map((part) => bars(partName(one, part), part.meaning || '', named(partName(one, part)), null));
    }
  }

  // Sections

  const contents = document.getElementById('contents');
  let sections = 0;
  function section(title, text, ...children) {
    const id = `section-${++sections}`;
    main.append(element('section', { 'aria-labelledby': id }, element('h2', { id }, title),
      element('p', { class: 'soft' }, text), ...children));
    contents.append(element('a', { href: `#${id}` }, title));
  }
  const kinds = [
    ['throughput', 'Throughput', 'Threads send as fast as they can. The dashed line is what the machine can do between two of its cores.'],
    ['latency', 'Latency', 'Open loop: an item counts from when it was due, so a stall counts for each item that it delays.'],
    ['time', 'One thread', 'The time of one action when nothing contends.'],
    ['readers', 'Readers', 'Threads read while an owner changes the state.'],
    ['sizes', 'State sizes', 'What a change of one element costs, by the size of the state, and how many reads there are meanwhile.'],
    ['scale', 'Many at once', `${data.run.reactors.toLocaleString('en')} of each.`],
  ];
  const run = data.run;
  document.getElementById('run').textContent = [
    `${run.cpu}, ${run.cores} cores, ${run.kernel} ${run.architecture}`, run.compiler, `commit ${run.commit}`,
    `load before the run ${number(run.loadAverage)}`,
    run.roundTripNanoseconds ? `round trip between cores ${number(run.roundTripNanoseconds)} ns` : 'one core', run.measuredAt,
  ].filter(Boolean).join(' · ');

  section('How to read it', 'A point is the median of the repetitions, its line their range. A hollow point, or a pale bar, was measured in another placement of the cores than its column, and must not be compared with it. A figure with ~ says little: its repetitions vary too much, or are fewer than four; one with ≥ would have been larger. Point at a mark, or move the focus to it, for its figures; a name in a legend hides its line; each chart has its figures as a table.');
  if (data.isIncomplete) section('Not complete', 'The run ended early: what came later was not measured.');
  if (data.failures.length) {
    section('Wrong results', 'These figures mean nothing.', element('ul', {}, ...data.failures.map((text) => element('li', { class: 'missed' }, text))));
  }
  if (data.promises.length) {
    section('What is promised', 'The promises with a number, for the C core.',
      figuresTable(['promise', 'measured', 'promised', 'placement', ''], data.promises.map((promise) => [
        promise.text, promise.measured, promise.bound, promise.placement,
        promise.isMet === undefined ? promise.verdict
          : element('td', { class: promise.isMet ? 'met' : 'missed' }, promise.isMet ? '✓ met' : '✗ not met')])));
  }
  for (const [kind, title, text] of kinds) {
    const charts = data.cases.filter((one) => one.kind === kind && !one.curve).flatMap(cards).filter(Boolean);
    if (charts.length) section(title, text, element('div', { class: 'grid' }, ...charts));
  }
  const growing = data.cases.filter((one) => one.curve).flatMap(cards).filter(Boolean);
  if (growing.length) {
    section('Cost as work grows', 'The same work with more of something, on a logarithmic axis. What comes before 1 is zero.',
      element('div', { class: 'grid' }, ...growing));
  }
  if (data.race) {
    const { run: raced, bars: reached, problems } = data.race;
    const charts = data.cases.filter((one) => one.kind === 'race').flatMap(cards).filter(Boolean);
    section('The race against other queues', `${raced.cpu}, ${raced.cores} cores, ${raced.compiler}, commit ${raced.commit}${raced.measuredAt ? `, ${raced.measuredAt}` : ''}. Each queue with or without a consumer that paces itself, whichever is better.`,
      element('div', { class: 'grid' }, ...charts));
    if (reached.length) {
      section('The bars of the race', 'Our speed divided by that of the other queue, with an interval and its confidence. What varies too much is not judged.' + (data.race.absent ? ` Queues ${data.race.absent}.` : ''),
        figuresTable(['', 'against', 'ratio', 'interval', 'bar', ''], reached.map((bar) => [
          bar.text, bar.peer, bar.ratio, bar.interval, bar.bound,
          element('td', bar.isReached === undefined ? {} : { class: bar.isReached ? 'met' : 'missed' }, bar.judgement)])));
    }
    if (problems.length) {
      section('What went wrong in the race', 'STALLED: a repetition was killed, since its items did not arrive. LOST-ORDER: an item came before an earlier one of the same producer. WRONG: count or sum are not what was sent.',
        figuresTable(['queue', 'case', 'producers', ''], problems.map((problem) => [
          problem.variant, problem.case, String(problem.producers), element('td', { class: 'missed' }, problem.words)])));
    }
  }
  const limits = data.cases.filter((one) => one.kind === 'limit')
    .flatMap((one) => one.parts.length ? one.parts.map((part) => partName(one, part)) : [one.name]);
  const bounding = limits.flatMap(named);
  if (bounding.length) {
    section('The machine’s limits', 'Measured in the same rounds as the cases that they bound, and once for each placement of the cores. A dashed line in a chart is that of its own rounds.',
      figuresTable(['limit', 'median', 'placement'], bounding.map((result) => [
        element('td', { 'data-case': result.case }, result.case), figureCell(result, null), result.placement])));
  }
  if (data.groups.length) section('What was discarded', 'A hypervisor moves cores, and figures of different placements differ by several times. Of each group, the repetitions of the prevailing placement are kept; the others are measured again a few times, and count only if there are no better ones.',
    figuresTable(['group', 'kept', 'repetitions', 'discarded', 'placements of the repetitions'], data.groups.map((group) => [
      group.title, group.placement, String(group.repetitions),
      element('td', group.discarded ? { class: 'missed' } : {}, String(group.discarded)),
      Object.entries(group.placements).map(([name, count]) => `${count} ${name}`).join(', ')])));
  document.documentElement.dataset.drawn = String(document.querySelectorAll('figure svg').length);
})();
