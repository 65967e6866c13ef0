/**
 * The parts of the interpreter that only some programs need. Each is a script of its own in the file of the interpreter, and an isolate loads it
 * for the first run that needs it: `pure` tools, the labels of a run under flow rules, the probe of a measured run, calls that run together. The
 * guest gets them in this order.
 */
export const PART_NAMES = ['pure', 'flow', 'probe', 'together'] as const;

export type PartName = (typeof PART_NAMES)[number];

/** What stands before a part in the built file. */
export function partMark(name: PartName): string {
  return `\n//# part ${name}\n`;
}

/** The scripts in the text of a built file. */
export interface Scripts {
  /** The interpreter: declares `var guest = { boot, kit }`. */
  readonly own: string;
  /** The parts, each an expression: a function that takes `guest.kit` and returns what the part exports. */
  readonly parts: ReadonlyMap<PartName, string>;
}

export function scriptsIn(text: string): Scripts {
  const found = PART_NAMES.map((name) => ({ name, mark: partMark(name), at: text.indexOf(partMark(name)) })).filter(
    ({ at }) => at >= 0,
  );
  const ends = [...found.map(({ at }) => at), text.length].sort((one, other) => one - other);
  const parts = found.map(({ name, mark, at }) => {
    const script = text.slice(at + mark.length, ends[ends.indexOf(at) + 1]);
    return [name, `((kit) => { const guest = { kit };${script}\n;return part; })`] as const;
  });
  return { own: text.slice(0, ends[0]), parts: new Map(parts) };
}
