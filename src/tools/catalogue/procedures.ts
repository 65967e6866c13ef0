import { checkList, wholeNumber } from '../../wire/options.ts';
import { estimateTokens } from './guide.ts';
import { firstSentence, oneLine } from './lines.ts';

/** The procedures of one source, as the authors of programs need to know them. */
export interface LibraryEntry {
  /** The name of the source. */
  readonly name: string;
  /** The signature of each procedure: `name(a, [b])`. */
  readonly signatures: readonly string[];
  /** The metadata `description` at the top of the source; empty when it has none. */
  readonly description: string;
}

/** Options of {@link procedurePrompt}. */
export interface ProcedurePromptOptions {
  /** Most tokens by {@link estimateTokens}; no bound when absent. */
  readonly budget?: number | undefined;
  /** Shows only signatures. */
  readonly brief?: boolean | undefined;
}

/**
 * Procedures that the host has loaded, as a text for a model's instructions: how they are called, their signatures, and what their sources
 * say that they do. Empty without procedures. Within a budget, descriptions are shortened and left out first, then procedures; the last line
 * says how many. Throws `ConfigError` (`ERR_CONFIG`) for a budget that is no whole number from 1.
 */
export function procedurePrompt(
  entries: readonly LibraryEntry[],
  { budget, brief = false }: ProcedurePromptOptions = {},
): string {
  checkList('the procedures', entries);
  if (budget !== undefined) wholeNumber(1)('the budget in tokens', budget);
  const own = entries.filter(({ signatures }) => signatures.length > 0);
  const [first] = own.flatMap(({ signatures }) => signatures);
  if (first === undefined) return '';
  const head = `\`set x = ${oneLine(first).replaceAll('[', '').replaceAll(']', '')}\` calls a procedure and keeps what it returns; \`call …\` drops it. A parameter in [] may be left out.`;
  const fits = (text: string): boolean => budget === undefined || estimateTokens(text) <= budget;
  const describe = brief ? [() => ''] : [oneLine, firstSentence, () => ''];
  for (const shown of describe) {
    const text = [head, ...own.flatMap((entry) => linesOf(entry, shown(entry.description)))].join('\n');
    if (fits(text)) return `${text}\n`;
  }
  const lines = own.flatMap((entry) => linesOf(entry, ''));
  for (let count = lines.length - 1; ; count--) {
    const text = [head, ...lines.slice(0, count), `Left out for lack of space: ${lines.length - count} more.`].join('\n');
    if (count === 0 || fits(text)) return `${text}\n`;
  }
}

function linesOf({ signatures }: LibraryEntry, description: string): readonly string[] {
  return [...signatures.map(oneLine), ...(description === '' ? [] : [`  ${description}`])];
}
