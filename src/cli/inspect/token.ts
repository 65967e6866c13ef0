import { scanOutput } from '../../aeiou/index.ts';
import { counted } from '../../report/index.ts';
import { claims, type Inspection, inspection } from '../commands/token.ts';
import { type Artefact, type Flaw, type Found, type Kind, listed } from './kind.ts';

/** What `token inspect` says of a line with the form of a token. */
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
  recognize: (artefact) => found(artefact, 'tokens'),
};

/** Lines that contain the start of a token and are not one. Tried last, because programs may mention tokens. */
export const NO_TOKENS: Kind = {
  kind: 'token',
  what: 'a damaged control token',
  recognize: (artefact) => found(artefact, 'lookalikes'),
};

/** The first {@link MOST} tokens of a text, decoded without keys, and their claims as lines. */
export function tokensIn(text: string): { readonly report: readonly TokenLine[]; readonly lines: readonly string[] } {
  const found = scanOutput(text).candidates.slice(0, MOST);
  return {
    report: found.map(({ line, text: token }) => ({ line, token: inspection(token) })),
    lines: found.flatMap(({ line, text: token }) => {
      const [first = '', ...rest] = claims(token);
      return [`token in line ${line}: ${first}`, ...rest.map((each) => `  ${each}`)];
    }),
  };
}

function found({ text }: Artefact, form: 'tokens' | 'lookalikes'): Found | string {
  if (text === null) return 'it is not text';
  const { candidates, lookalikes } = scanOutput(text);
  const [first] = lookalikes;
  if (candidates.length === 0 && first === undefined) return 'no line has <<<NSMAG: in it';
  if (candidates.length === 0 && form === 'tokens')
    return `line ${first} has <<<NSMAG: in it, and is not exactly <<<NSMAG:V3:KIND:PAYLOAD.TAG>>>`;
  const { report, lines } = tokensIn(text);
  const others = text.replace(/\n$/, '').split('\n').length - candidates.length;
  const near = `${counted(lookalikes.length, 'line')} that look${lookalikes.length === 1 ? 's' : ''} like a control token and cannot be one`;
  return {
    form: candidates.length > 0 ? 'tokens' : 'lookalikes',
    title: candidates.length > 0 ? counted(candidates.length, 'control token') : near,
    sure: candidates.length > 0 && others === 0 ? 'certain' : 'likely',
    error: flawOf(report, first, text),
    report,
    lines: [
      ...(others > 0 ? [`among ${counted(others, 'other line')}`] : []),
      ...lines,
      ...listed(lookalikes, (line) => [`line ${line}: not exactly a token; a host does not look at it`]),
    ],
    next: NEXT,
  };
}

/** An artefact is whole when at least one token is valid; other lines may surround it. */
function flawOf(tokens: readonly TokenLine[], lookalike: number | undefined, text: string): Flaw | null {
  if (tokens.some(({ token }) => token.ok)) return null;
  const [{ line, token } = { line: lookalike ?? 1, token: inspection(text.split('\n')[(lookalike ?? 1) - 1] ?? '') }] = tokens;
  return token.ok ? null : { code: token.code, message: token.message, line };
}
