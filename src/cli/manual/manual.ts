/** The commands of the command line, their flags and their help: what the build writes to `dist/manual.json`. */
export interface Manual {
  readonly version: string;
  /** The program itself, its commands and their subcommands. */
  readonly pages: readonly Page[];
}

export interface Page {
  /** Its names, such as `sessions show`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  /** What `--help` prints. */
  readonly help: string;
  readonly flags: readonly Flag[];
  readonly operands: readonly Value[];
}

export interface Flag {
  /** Its forms, such as `-h` and `--help`. */
  readonly names: readonly string[];
  /** Null for a flag that takes no value. */
  readonly value: Value | null;
  readonly help: string;
}

/** The value of a flag, or an operand. */
export interface Value {
  /** What the help calls it, such as `FILE`. */
  readonly name: string;
  /** The values that there are; empty for any value. */
  readonly choices: readonly string[];
}

const HELP = ['--help', '-h'];
const VERSION = ['--version', '-v', 'version'];

/** Columns of the pages of the manual. */
const WIDE = 80;

/**
 * The text that a command line prints which asks for help or for the version, and for nothing else; otherwise null, as for a terminal
 * of fewer columns than the text has.
 */
export function helpPage(argv: readonly string[], manual: Manual | null, columns = WIDE): string | null {
  if (columns < WIDE) return null;
  if (manual === null) return null;
  const [first = '', ...rest] = argv;
  if (rest.length === 0 && VERSION.includes(first)) return `${manual.version}\n`;
  const path = HELP.includes(argv.at(-1) ?? '') ? argv.slice(0, -1) : first === 'help' && rest.length <= 2 ? rest : null;
  return manual.pages.find((page) => page.path === path?.join(' '))?.help ?? null;
}
