import type { FlameNode, Heat, HeatCost, HeatFrame, LineHeat, ProcedureHeat } from '../wire/heat.ts';

/** The amounts of the line of a frame. */
export interface Counted extends HeatCost {
  readonly frame: number;
  readonly visits: number;
}

/** The account of a measured run. */
interface Account {
  readonly frames: readonly HeatFrame[];
  readonly nodes: readonly FlameNode[];
  readonly counted: readonly Counted[];
  readonly steps: number;
  readonly notices: readonly string[];
}

type Sum = { fuel: number; us: number };

/** Sums an account up, by lines and by procedures, in time linear in the nodes. `sources` are the names in the order of the run. */
export function heatOf({ frames, nodes, counted, steps, notices }: Account, sources: readonly string[]): Heat {
  const lineOf = linesOf(frames);
  const totals = totalsOf(nodes);
  const lines = new Map<string, LineHeat & { visits: number } & Sum>();
  const outside = { fuel: 0, us: 0 };
  for (const { frame, visits, fuel, us } of counted) {
    const at = frames[frame];
    const key = lineOf[frame] ?? '';
    if (at === undefined || at.source === null || at.line === null) {
      add(outside, { fuel, us });
      continue;
    }
    const known = lines.get(key) ?? { source: at.source, line: at.line, visits: 0, fuel: 0, us: 0, total: { fuel: 0, us: 0 } };
    lines.set(key, known);
    add(known, { fuel, us });
    if (at.kind !== 'host') known.visits += visits;
  }
  const procedures = new Map<number, ProcedureHeat & Sum>();
  for (const { frame, visits } of counted) {
    const at = frames[frame];
    if (at === undefined || !isUnit(at)) continue;
    const { kind, name, source, line } = at;
    procedures.set(frame, { kind, name, source, line, calls: visits, fuel: 0, us: 0, total: { fuel: 0, us: 0 } });
  }
  walk(nodes, frames, lineOf, (index, { unit, isFirstOfLine, isFirstOfUnit }) => {
    const { frame, fuel, us } = nodes[index] ?? NO_NODE;
    const total = totals[index] ?? { fuel: 0, us: 0 };
    const line = lines.get(lineOf[frame] ?? '');
    if (line !== undefined && isFirstOfLine) add(line.total, total);
    const procedure = unit === null ? undefined : procedures.get(unit);
    if (procedure === undefined) return;
    add(procedure, { fuel, us });
    if (isFirstOfUnit) add(procedure.total, total);
  });
  const rank = new Map(sources.map((name, index) => [name, index]));
  const byPlace = (a: LineHeat | ProcedureHeat, b: LineHeat | ProcedureHeat): number =>
    (rank.get(a.source) ?? sources.length) - (rank.get(b.source) ?? sources.length) || a.line - b.line;
  return {
    ...(totals[0] ?? { fuel: 0, us: 0 }),
    steps,
    lines: [...lines.values()].sort(byPlace),
    outside,
    procedures: [...procedures.values()].sort(byPlace),
    flame: { frames, nodes },
    notices,
  };
}

const NO_NODE: FlameNode = { frame: 0, parent: null, count: 0, fuel: 0, us: 0 };

function add(sum: Sum, { fuel, us }: HeatCost): void {
  sum.fuel += fuel;
  sum.us += us;
}

/** The line that each frame counts for, as a key. */
function linesOf(frames: readonly HeatFrame[]): readonly (string | null)[] {
  return frames.map(({ source, line }) => (source === null ? null : `${line} ${source}`));
}

type Unit = HeatFrame & { readonly kind: ProcedureHeat['kind']; readonly source: string; readonly line: number };

function isUnit(frame: HeatFrame): frame is Unit {
  const { kind, source, line } = frame;
  return (kind === 'commands' || kind === 'procedure' || kind === 'event') && source !== null && line !== null;
}

/** The sum of each node and its descendants. A node comes after its parent. */
function totalsOf(nodes: readonly FlameNode[]): readonly Sum[] {
  const totals = nodes.map(({ fuel, us }): Sum => ({ fuel, us }));
  for (let index = nodes.length - 1; index > 0; index--) {
    const parent = totals[nodes[index]?.parent ?? 0];
    const own = totals[index];
    if (parent !== undefined && own !== undefined) add(parent, own);
  }
  return totals;
}

/** The context of a node: its procedure, and whether no ancestor has the same line or is the same procedure. */
interface Standing {
  readonly unit: number | null;
  readonly isFirstOfLine: boolean;
  readonly isFirstOfUnit: boolean;
}

/** Visits all nodes depth first, each after its parent. Does not recurse, because a path may be as long as the list. */
function walk(
  nodes: readonly FlameNode[],
  frames: readonly HeatFrame[],
  lineOf: readonly (string | null)[],
  visit: (index: number, standing: Standing) => void,
): void {
  const below: number[][] = nodes.map(() => []);
  for (let index = 1; index < nodes.length; index++) below[nodes[index]?.parent ?? 0]?.push(index);
  const lines = new Map<string, number>();
  const units = new Map<number, number>();
  const open: { readonly index: number; readonly unit: number | null; next: number }[] = [];
  const enter = (index: number, around: number | null): void => {
    const { frame } = nodes[index] ?? NO_NODE;
    const at = frames[frame];
    const isOwnUnit = at !== undefined && isUnit(at);
    const unit = isOwnUnit ? frame : around;
    const line = lineOf[frame] ?? '';
    visit(index, { unit, isFirstOfLine: !lines.get(line), isFirstOfUnit: isOwnUnit && !units.get(frame) });
    lines.set(line, (lines.get(line) ?? 0) + 1);
    if (isOwnUnit) units.set(frame, (units.get(frame) ?? 0) + 1);
    open.push({ index, unit, next: 0 });
  };
  if (nodes.length > 0) enter(0, null);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const child = below[top.index]?.[top.next++];
    if (child !== undefined) {
      enter(child, top.unit);
      continue;
    }
    open.pop();
    const { frame } = nodes[top.index] ?? NO_NODE;
    const line = lineOf[frame] ?? '';
    lines.set(line, (lines.get(line) ?? 1) - 1);
    if (units.has(frame)) units.set(frame, (units.get(frame) ?? 1) - 1);
  }
}
