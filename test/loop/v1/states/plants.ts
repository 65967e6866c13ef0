import type { Bound, Plant } from '../../../states/explorer.ts';

const SESSION = 'src/loop/v1/session.ts';
const CONTROL = 'src/loop/v1/control.ts';
const CEILINGS = 'src/loop/v1/ceilings.ts';

/** The bound of `npm test`, and of the search for bugs. */
export const SMALL: Bound = { turns: 2, lines: 2 };

/** Bugs to plant in the code of the v1 profile, one at a time. */
export const PLANTS: readonly Plant[] = [
  {
    what: 'done beats halt',
    file: CONTROL,
    from: "['abort', 'halt', 'done', 'continue'];",
    to: "['abort', 'done', 'halt', 'continue'];",
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'the control line hides markers',
    file: CONTROL,
    from: '...scanMarkers(output)]',
    to: '...(json === null ? scanMarkers(output) : [])]',
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'a program may halt in JSON',
    file: CONTROL,
    from: "['continue', 'done', 'abort'] satisfies",
    to: "['continue', 'done', 'abort', 'halt'] satisfies",
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'the last line is the control line',
    file: CONTROL,
    from: "output.indexOf('\\n')",
    to: "-1 - output.lastIndexOf('\\n')",
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'a marker may be unclosed',
    file: 'src/loop/v1/control.ts',
    from: 'signal}]]',
    to: 'signal}',
    breaks: 'AL1-3-4',
  },
  {
    what: 'a reason has any length',
    file: 'src/loop/v1/control.ts',
    from: 'const MAX_REASON = 256;',
    to: 'const MAX_REASON = 2560;',
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'silence means to go on',
    file: SESSION,
    from: "      case null:\n        return this.#end(record, { decision: 'DONE', cause: 'no-signal', reason: null });\n",
    to: '      case null:\n',
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'an agent without permission loops',
    file: SESSION,
    from: 'if (!this.#run.permitted) return',
    to: "if (!this.#run.permitted && control.signal !== 'continue') return",
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'a failed turn may go on',
    file: SESSION,
    from: 'if (error !== null) return this.#haltAfter',
    to: "if (error !== null && control.signal !== 'done') return this.#haltAfter",
    breaks: 'AL1-2.7-1',
  },
  {
    what: 'a loop takes a turn too many',
    file: CEILINGS,
    from: 'this.#turns >= maxTurns',
    to: 'this.#turns > maxTurns',
    breaks: 'AL1-3-4',
  },
  {
    what: 'a loop goes on without tokens',
    file: CEILINGS,
    from: 'if (this.#tokens >= totalTokens)',
    to: 'if (this.#tokens > totalTokens)',
    breaks: 'AL1-3-4',
  },
  {
    what: 'the time of an agent does not count',
    file: SESSION,
    from: 'if (late !== null) return',
    to: "if (late !== null && reply === '') return",
    breaks: 'AL1-2.5-1',
  },
  {
    what: 'the guard does not see plans',
    file: 'src/loop/v1/session.ts',
    from: '[...line, ...plans]',
    to: 'line.length > 0 ? line : plans',
    breaks: 'AL1-3-4',
  },
  {
    what: 'the order of keys looks like progress',
    file: 'src/loop/v1/session.ts',
    from: "canonicalize(control.json, 'doubles')",
    to: 'JSON.stringify(control.json)',
    breaks: 'AL1-3-4',
  },
];
