/** A label that a value carries, and where the value got it. */
export interface CarriedLabel {
  /** Its name, as the policy writes it. */
  readonly label: string;
  /** The source as the policy knows it: `tool.web.get`, `userdata.fields.note`, `event mail`, `program`. */
  readonly from: string;
  /** Name of the file in which the value came in; null for what no line of a program brings in. */
  readonly source: string | null;
  /** Line of it, from 1; null as above. */
  readonly line: number | null;
}

export interface ArgumentLabels {
  /** Those of the whole value with all its parts. */
  readonly all: readonly CarriedLabel[];
  /** Those of the entries of a map, by key; absent for other values. The whole map has the labels of its keys, too. */
  readonly entries?: Readonly<Record<string, readonly CarriedLabel[]>>;
}

export interface CallLabels {
  /** By position. A missing argument carries none. */
  readonly args: readonly ArgumentLabels[];
  /** Labels of what decides whether, and how often, the call is made. */
  readonly deciding: readonly CarriedLabel[];
}

/** The labels that a run begins with. Part of the input of every run under rules about origin, even when there are none. */
export interface FlowInput {
  /** Labels of the program itself, which everything in it carries. */
  readonly program: readonly string[];
  /** Parts of globals: the name, and the keys that lead to the part. */
  readonly globals: readonly { readonly name: string; readonly path: readonly string[]; readonly labels: readonly string[] }[];
  /** Labels of each event, in the order of the events. */
  readonly events: readonly (readonly string[])[];
}

/** What the host says of the labels of an answer. */
export interface AnswerLabels {
  /** Labels that the value brings. */
  readonly adds: readonly string[];
  /** Labels of the arguments that the value does not carry on. */
  readonly drops: readonly string[];
}

/** The labels of what a run has said. */
export interface SaidLabels {
  /** Of all that was emitted, of the result, and of the errors that are shown. */
  readonly output: readonly CarriedLabel[];
  /** Of all that was whispered. */
  readonly scratchpad: readonly CarriedLabel[];
}

/** The names of some labels, sorted. */
export function labelNames(carried: readonly CarriedLabel[]): readonly string[] {
  return [...new Set(carried.map(({ label }) => label))].sort();
}

/** Most sources that a message names. */
const MOST_SOURCES = 4;

/** Labels and where they come from, in words. */
export function sourcesText(sources: readonly CarriedLabel[]): string {
  const shown = sources.slice(0, MOST_SOURCES).map(({ label, from, source, line }) => {
    return `${label} from ${from}${line === null ? '' : ` (${source === null ? 'line ' : `${source}:`}${line})`}`;
  });
  return [...shown, ...(sources.length > MOST_SOURCES ? [`${sources.length - MOST_SOURCES} more`] : [])].join(', ');
}
