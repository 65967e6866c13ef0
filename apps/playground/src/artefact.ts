import { decodeToken, extractEnvelope, isTokenLine, keyringFrom, parseKeys, verifyToken } from '../../../src/entries/aeiou.ts';
import { NeuroScriptError } from '../../../src/wire/errors.ts';

/** What is known of an envelope or a token, as terms and texts; `actions` is the program of an envelope. */
export interface Artefact {
  readonly facts: readonly (readonly [term: string, text: string])[];
  readonly actions: string | null;
}

/** Takes an envelope or a token apart. With a key file, also verifies the token's signature. */
export function inspect(text: string, keyFile: string): Artefact {
  const trimmed = text.trim();
  if (trimmed === '') return { facts: [], actions: null };
  try {
    return isTokenLine(trimmed) || trimmed.startsWith('<<<NSMAG') ? token(trimmed, keyFile) : envelope(text);
  } catch (error) {
    if (!(error instanceof NeuroScriptError)) throw error;
    return { facts: [['problem', `${error.code}: ${error.message}`]], actions: null };
  }
}

function envelope(text: string): Artefact {
  const { userdata, scratchpad, output, actions, lints } = extractEnvelope(text);
  const section = (name: string, body: string | null): [string, string][] => (body === null ? [] : [[name, body]]);
  return {
    facts: [
      ...section('USERDATA', userdata),
      ...section('SCRATCHPAD', scratchpad),
      ...section('OUTPUT', output),
      ...section('ACTIONS', actions),
      ...lints.map(({ code, line }): [string, string] => ['remark', `${code} in line ${line}`]),
    ],
    actions,
  };
}

function token(line: string, keyFile: string): Artefact {
  const decoded = decodeToken(line);
  if (!decoded.ok) return { facts: [['problem', `${decoded.code}: ${decoded.message}`]], actions: null };
  const { payload } = decoded.token;
  const facts = Object.entries(payload).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return {
    facts: [...facts, ['signature', keyFile.trim() === '' ? 'not verified: no keys given' : verdict(line, payload, keyFile)]],
    actions: null,
  };
}

/** Session, turn, nonce and time are those that the token itself names: what is left is who signed it. */
function verdict(line: string, payload: Readonly<Record<string, unknown>>, keyFile: string): string {
  const now = Number(payload['issued_at']);
  const keys = keyringFrom(parseKeys(keyFile), { clock: { now: () => now } });
  const result = verifyToken(line, {
    keys,
    sessionId: String(payload['session_id']),
    turnIndex: Number(payload['turn_index']),
    turnNonce: String(payload['turn_nonce']),
    now,
  });
  return result.ok ? 'right, and of one of these keys' : `${result.code}: ${result.message}`;
}
