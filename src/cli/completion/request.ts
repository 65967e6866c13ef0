import type { Flag, Manual, Page, Value } from '../manual/manual.ts';

/** What can follow on an unfinished command line. */
export interface Wanted {
  /** Words that begin with what is typed already. */
  readonly words: readonly Word[];
  /** The value that is typed, where words alone do not tell; null where none is expected. */
  readonly value: Value | null;
  /** The text before the value within its word, such as `--tools=`. */
  readonly before: string;
  /** What is typed of the value. */
  readonly typed: string;
  readonly command: string;
  /** Values of the flags before, by the flags' names. */
  readonly given: ReadonlyMap<string, string>;
}

/** A word, and what it means. */
export interface Word {
  readonly text: string;
  readonly help: string;
}

/** Reads the words after the name of the program; the last one is the unfinished one, which may be empty. */
export function wantedBy(words: readonly string[], { pages }: Manual): Wanted {
  const current = words.at(-1) ?? '';
  const line = walk(words.slice(0, -1), pages);
  const { page, given } = line;
  const rest = { command: page.path, given };
  const expects = (value: Value | null, typed: string, before: string): Wanted => {
    const choices = value?.choices ?? [];
    const matching = choices.filter((choice) => choice.startsWith(typed)).map((choice) => ({ text: before + choice, help: '' }));
    return { ...rest, words: matching, value: choices.length > 0 ? null : value, before, typed };
  };
  if (line.open !== null) return expects(line.open, current, '');
  if (!line.onlyOperands && current.startsWith('-')) {
    const cut = current.indexOf('=') + 1;
    if (cut > 0)
      return expects(flagOf(current.slice(0, cut - 1), page)?.value ?? null, current.slice(cut), current.slice(0, cut));
    const flags = page.flags.flatMap(({ names, help }) => names.map((text) => ({ text, help })));
    return { ...rest, words: starting(flags, current), value: null, before: '', typed: current };
  }
  const names = line.operands === 0 ? starting(commandsOf(page, pages), current) : [];
  const value = expects(page.operands[Math.min(line.operands, page.operands.length - 1)] ?? null, current, '');
  return { ...value, words: [...names, ...value.words] };
}

interface Line {
  readonly page: Page;
  readonly given: ReadonlyMap<string, string>;
  /** The value that the last word demands. */
  readonly open: Value | null;
  readonly operands: number;
  /** Whether the line has `--`, after which nothing is a flag. */
  readonly onlyOperands: boolean;
}

/** The page of a command that does not exist; nothing can follow it. */
const NOTHING: Page = { path: '(unknown)', summary: '', help: '', flags: [], operands: [] };

function walk(words: readonly string[], pages: readonly Page[]): Line {
  let page = pages[0] ?? NOTHING;
  let open: Flag | null = null;
  let operands = 0;
  let onlyOperands = false;
  const given = new Map<string, string>();
  for (const word of words) {
    if (open !== null) {
      given.set(open.names.at(-1) ?? '', word);
      open = null;
    } else if (!onlyOperands && word === '--') onlyOperands = true;
    else if (!onlyOperands && word.startsWith('-')) {
      const cut = word.indexOf('=');
      const flag = flagOf(cut < 0 ? word : word.slice(0, cut), page);
      if (cut >= 0 && flag !== null) given.set(flag.names.at(-1) ?? '', word.slice(cut + 1));
      else if (flag?.value) open = flag;
    } else {
      const below = operands === 0 ? pages.find(({ path }) => path === joined(page, word)) : undefined;
      if (below !== undefined) page = below;
      else if (page.operands.length === 0) page = NOTHING;
      else operands += 1;
    }
  }
  return { page, given, open: open?.value ?? null, operands, onlyOperands };
}

function flagOf(name: string, { flags }: Page): Flag | null {
  return flags.find(({ names }) => names.includes(name)) ?? null;
}

function commandsOf(page: Page, pages: readonly Page[]): readonly Word[] {
  return pages
    .filter((each) => each.path !== '' && each.path === joined(page, each.path.split(' ').at(-1) ?? ''))
    .map(({ path, summary }) => ({ text: path.split(' ').at(-1) ?? '', help: summary }));
}

function joined({ path }: Page, name: string): string {
  return path === '' ? name : `${path} ${name}`;
}

function starting(words: readonly Word[], typed: string): readonly Word[] {
  return words.filter(({ text }) => text.startsWith(typed));
}
