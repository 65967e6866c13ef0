import type { Verifier } from './verifier.ts';

const WORD = /^\s+|^(?:'[^']*'|"[^"]*"|[^\s'"|&;<>()$`]+)+/;

/**
 * The verifier that a command line names: words, which single or double quotes may hold together. Nothing is expanded, for no
 * shell is asked; what only a shell could do (`|`, `;`, `$` … outside of quotes) is refused, as it would silently mean something
 * else. Null for that, for a quote that is not closed, and for no word at all.
 */
export function readCommand(text: string): Verifier | null {
  const words: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const [piece = ''] = WORD.exec(rest) ?? [];
    if (piece === '') return null;
    rest = rest.slice(piece.length);
    if (piece.trim() !== '') words.push(piece.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  const [command = '', ...args] = words;
  return command === '' ? null : { command, args };
}
