/** The commands of the command line, their flags and their help: what the build writes to `dist/manual.json`. */
export interface Manual {
  readonly version: string;
  /** The program itself, its commands and their subcommands. */
  readonly pages: readonly Page[];
}

/** One command. */
export interface Page {
  /** Its names, such as `sessions show`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  /** What `--help` prints. */
  readonly help: string;
  readonly flags: readonly Flag[];
  readonly operands: readonly Value[];
}

/** One flag of a command. */
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
