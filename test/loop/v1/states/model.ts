/** What a loop of the v1 profile leads to: seed 001 in a page, computed from what its turns said and used, without the code of the loop. */

/** One turn: what ACTIONS emitted, what it used, and how it ended. */
export interface Turn {
  readonly lines: readonly string[];
  /** Lines that the host adds to OUTPUT. */
  readonly stubs: readonly string[];
  /** Model tokens of the reply. */
  readonly tokens: number;
  /** Milliseconds of the loop when the reply is there, and when the turn has ended. */
  readonly replied: number;
  readonly ended: number;
  /** Why the program did not come to its end; null when it did. */
  readonly failure: HaltReason | null;
}

/** Section 3. */
export type HaltReason = 'timeout' | 'max-turns' | 'no-progress' | 'policy' | 'execute-error';

export interface Ceilings {
  readonly turns: number;
  readonly wallMs: number;
  readonly turnTokens: number;
  readonly totalTokens: number;
}

export interface End {
  readonly decision: 'DONE' | 'ABORT' | 'HALT';
  readonly reason: string | null;
  /** Turns that were executed. */
  readonly turns: number;
  readonly output: string;
}

type Signal = 'abort' | 'halt' | 'done' | 'continue';

interface Said {
  readonly signal: Signal;
  readonly reason: string | null;
}

const own = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // JSON.parse does not see that a key is there twice.
    return isObject && (text.match(/"loop"/g)?.length ?? 0) === 1 ? { ...value } : null;
  } catch {
    return null;
  }
};

/** 2.6: the control line, if the first line is one. */
function controlLine(lines: readonly string[]): Readonly<Record<string, unknown>> | null {
  const json = own(lines.join('\n').split('\n')[0] ?? '');
  return json !== null && ['continue', 'done', 'abort'].includes(String(json['loop'])) ? json : null;
}

const MARKERS = /\[\[loop:(?:(continue|done|abort)|(abort|halt):reason=([^\]\n]{0,256}))\]\]/g;
const PRECEDENCE: readonly Signal[] = ['abort', 'halt', 'done', 'continue'];

/** 2.6 and 2.7: all signals, of which the strongest counts. */
function controlOf(lines: readonly string[]): Said | null {
  const json = controlLine(lines);
  const first = json === null ? [] : [{ signal: String(json['loop']), reason: json['reason'] ?? null }];
  const markers = [...lines.join('\n').matchAll(MARKERS)].map(([, bare, stop, reason]) => ({
    signal: bare ?? stop,
    reason: reason ?? null,
  }));
  for (const signal of PRECEDENCE) {
    const found = [...first, ...markers].find((each) => each.signal === signal);
    if (found !== undefined) return { signal, reason: typeof found.reason === 'string' ? found.reason : null };
  }
  return null;
}

/** 2.9: the control line and every plan; where there is neither, all that was said, without white space at the ends of lines and of the whole. */
export function digestOf(lines: readonly string[]): string {
  const json = controlLine(lines);
  const plans = lines.flatMap((line) => (line.startsWith('PLAN {') ? [line] : []));
  const sorted = json === null ? [] : [JSON.stringify(Object.entries(json).sort())];
  if (sorted.length + plans.length > 0) return [...sorted, ...plans].join('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
}

/** How a loop goes: its end, or null when it asks for another turn. */
export function endOf(turns: readonly Turn[], permitted: boolean, ceilings: Ceilings): End | null {
  let [tokens, digest, output]: [number, string | null, string] = [0, null, ''];
  for (const [index, turn] of turns.entries()) {
    const halted = (reason: HaltReason, executed: number): End => {
      const marker = `[[loop:halt:reason=${reason}]]`;
      return { decision: 'HALT', reason, turns: executed, output: output === '' ? marker : `${output}\n${marker}` };
    };
    tokens += turn.tokens;
    if (turn.tokens > ceilings.turnTokens || tokens > ceilings.totalTokens) return halted('policy', index);
    if (turn.replied >= ceilings.wallMs) return halted('timeout', index);
    const executed = index + 1;
    output = [...turn.lines, ...turn.stubs].join('\n');
    if (!permitted) return { decision: 'DONE', reason: null, turns: executed, output };
    if (turn.failure !== null) return halted(turn.failure, executed);
    const said = controlOf(turn.lines);
    if (said === null || said.signal === 'done') return { decision: 'DONE', reason: null, turns: executed, output };
    if (said.signal === 'abort') return { decision: 'ABORT', reason: said.reason, turns: executed, output };
    if (said.signal === 'halt') return { decision: 'HALT', reason: said.reason, turns: executed, output };
    if (turn.ended >= ceilings.wallMs) return halted('timeout', executed);
    if (tokens >= ceilings.totalTokens) return halted('policy', executed);
    if (executed >= ceilings.turns) return halted('max-turns', executed);
    const next = digestOf(turn.lines);
    if (next === digest) return halted('no-progress', executed);
    digest = next;
  }
  return null;
}
