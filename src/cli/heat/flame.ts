import { escaped } from '../../report/html.ts';
import { counted, printable } from '../../report/index.ts';
import type { Heat, HeatCost, HeatFrame } from '../../wire/heat.ts';

/** Part of the whole width below which a box is left out, and the most rows. */
const NARROWEST = 0.0005;
const DEEPEST = 120;
const ROW = 18;

/** A flame graph of fuel or time as SVG, without a script: the width of a box is what its path spent, that of the boxes above it included. */
export function flameSvg(
  { flame: { frames, nodes } }: Heat,
  of: (spent: HeatCost) => number,
  unit: (amount: number) => string,
): string {
  const totals = nodes.map(of);
  for (let index = nodes.length - 1; index > 0; index--) {
    const parent = nodes[index]?.parent ?? 0;
    totals[parent] = (totals[parent] ?? 0) + (totals[index] ?? 0);
  }
  const all = totals[0] ?? 0;
  if (all === 0) return '<p>Nothing was spent.</p>';
  /** Where the next box above each node begins, and the row of each; a node stands behind the one it stands on. */
  const next: number[] = [];
  const rows: number[] = [];
  const boxes: string[] = [];
  let deepest = 0;
  for (const [index, node] of nodes.entries()) {
    const parent = node.parent;
    const total = totals[index] ?? 0;
    const from = parent === null ? 0 : (next[parent] ?? 0);
    const row = parent === null ? 0 : (rows[parent] ?? 0) + 1;
    if (parent !== null) next[parent] = from + total;
    next[index] = from;
    rows[index] = row;
    if (total / all < NARROWEST || row >= DEEPEST) continue;
    deepest = Math.max(deepest, row);
    const frame = frames[node.frame];
    if (frame === undefined) continue;
    const label = printable(labelOf(frame));
    const about = `${label}: ${unit(total)}, ${((100 * total) / all).toFixed(1)}% of the run, ${unit(of(node))} its own, ${counted(node.count, 'time')}`;
    boxes.push(
      `<svg x="${percent(from / all)}" y="${row * ROW}" width="${percent(total / all)}" height="${ROW - 1}">` +
        `<title>${escaped(about)}</title><rect class="${frame.kind}" width="100%" height="100%"/>` +
        `<text x="3" y="13">${escaped(label.slice(0, 200))}</text></svg>`,
    );
  }
  return `<svg class="flame" role="img" aria-label="flame graph" width="100%" height="${(deepest + 1) * ROW}">${boxes.join('\n')}</svg>`;
}

function percent(part: number): string {
  return `${Math.round(part * 1e5) / 1e3}%`;
}

/** A frame in one line, as a box of a flame graph or a trace shows it. */
export function labelOf({ kind, name, source, line }: HeatFrame): string {
  return kind === 'statement' || kind === 'handler' ? `${name} ${source}:${line}` : name;
}
