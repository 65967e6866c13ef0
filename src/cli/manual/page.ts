import type { Manual } from './manual.ts';

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
