import { scanOutput } from '../../aeiou/index.ts';
import { counted } from '../../report/index.ts';
import { claims, type Inspection, inspection } from '../commands/token.ts';
import { type Artefact, type Flaw, type Found, type Kind, lineCount } from './kind.ts';

/** A line with the form of a token. */
export interface TokenLine {
  /** 1-based. */
  readonly line: number;
  readonly token: Inspection;
}

/** Maximum number of tokens that are decoded. */
const MOST = 50;

const NEXT =
  'Nothing is verified: anybody can write such a line. "neuroscript token verify" does, with the keys, session, turn and nonce of the host.';

/** Control tokens, alone or among other lines. Verification needs keys and is not done here. */
export const TOKENS: Kind = {
  kind: 'token',
  what: 'a control token',
  recognize: ({ text }) => (text === null ? 'it is no text' : found(text, true)),
};

/** Lines that contain the start of a token and are not one. Tried last, because programs may mention tokens. */
export const NO_TOKENS: Kind = {
  kind: 'token',
  what: 'a damaged control token',
  recognize: ({ text }: Artefact) => (text === null ? 'it is no text' : found(text, false)),
};

/** The first {@link MOST} tokens of a text, decoded without keys. */
export function tokensIn(text: string): { readonly all: number; readonly tokens: readonly TokenLine[] } {
  const { candidates } = scanOutput(text);
  const tokens = candidates.slice(0, MOST).map(({ line, text: token }) => ({ line, token: inspection(token) }));
  return { all: candidates.length, tokens };
}

/** The claims of tokens, as lines. */
export function tokenLines(text: string): readonly string[] {
  return scanOutput(text)
    .candidates.slice(0, MOST)
    .flatMap(({ line, text: token }) => {
      const [first = '', ...rest] = claims(token);
      return [`token in line ${line}: ${first}`, ...rest.map((each) => `  ${each}`)];
    });
}

function found(text: string, whole: boolean): Found | string {
  const { candidates, lookalikes } = scanOutput(text);
  if (candidates.length === 0 && (whole || lookalikes.length === 0))
    return lookalikes.length === 0
      ? 'no line has <<<NSMAG: in it'
      : `line ${lookalikes[0]} has <<<NSMAG: in it, and is not exactly <<<NSMAG:V3:KIND:PAYLOAD.TAG>>>`;
  const { all, tokens } = tokensIn(text);
  const lines = lineCount(text);
  const broken = tokens.filter(({ token }) => !token.ok).length;
  const titles = all > 0 ? counted(all, 'control token') : counted(lookalikes.length, 'line');
  return {
    title: all === 0 ? `${titles} that look${lookalikes.length === 1 ? 's' : ''} like a control token and cannot be one` : titles,
    sure: all > 0 && lines === all ? 'certain' : 'likely',
    error: flawOf(tokens, lookalikes, text),
    facts: { lines, count: all, authenticated: false, tokens, lookalikes: lookalikes.slice(0, MOST) },
    lines: [
      ...(lines > all ? [`among ${counted(lines, 'line')}`] : []),
      ...tokenLines(text),
      ...lookalikes.slice(0, MOST).map((line) => `line ${line}: not exactly a token; a host does not look at it`),
      ...(broken > 0 && broken < all ? [`${broken} of them cannot be read`] : []),
    ],
    next: NEXT,
  };
}

/** An artefact is whole when at least one token is valid; other lines may surround it. */
function flawOf(tokens: readonly TokenLine[], lookalikes: readonly number[], text: string): Flaw | null {
  if (tokens.some(({ token }) => token.ok)) return null;
  const [first] = tokens;
  if (first !== undefined && !first.token.ok) return { code: first.token.code, message: first.token.message, line: first.line };
  const line = lookalikes[0] ?? 1;
  const failure = inspection(text.split('\n')[line - 1] ?? '');
  return failure.ok ? null : { code: failure.code, message: failure.message, line };
}
