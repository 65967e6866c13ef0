import type { ErrorInfo } from '../../src/wire/errors.ts';
import type { GuestResult, WorkerFrame, WorkerUsage } from '../../src/wire/protocol.ts';
import type { ParsedFile } from '../../src/wire/sourcereports.ts';

/** One well-formed frame of each type that a worker sends. A type without a sample does not compile. */

/** The worker puts the number of its job in the place of this one. */
const id = 0;
const at = { fork: 'f', source: 'src', line: 1, column: 1 };
const usage: WorkerUsage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const range = { line: 1, column: 1, endLine: 1, endColumn: 2 };
const diagnostic = { file: 'a', s: 0, e: 1, ...range, message: 'm', hint: 'h' };
const file: ParsedFile = {
  ...{ name: 'a', kind: 'commands', commandBlocks: 1, procedures: ['p'], signatures: ['p(a)'], metadata: [['k', 'v']] },
  ...{ events: 1, tools: ['tool.x'], typed: 'statements' },
};
const nowhere = { nsCode: null, source: null, line: null, column: null, stack: [] };

/** An error as the interpreter reports it. */
export const failure = { ...nowhere, kind: 'internal', code: 'ERR_INTERNAL', name: 'Internal', message: 'm' } as const;
const full: ErrorInfo = {
  ...{ kind: 'quota', code: 'ERR_QUOTA', nsCode: 4, name: 'Quota', message: 'm', source: 's', line: 1, column: 1, hint: 'h' },
  ...{ stack: [{ name: 'p', source: 's', line: 1, column: 1 }], limit: 'fuel', allowed: 1, used: 2 },
};

/** A success of the guest. */
export const success: GuestResult = {
  ...{ ok: true, phase: 'exec', result: null, eventErrors: [], error: null },
  ...{ fuel: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 },
};

export const FRAMES: { readonly [Type in WorkerFrame['t']]: Extract<WorkerFrame, { readonly t: Type }> } = {
  compiled: { t: 'compiled', build: 'b', caches: ['AA=='] },
  hello: { t: 'hello', version: 1, pid: 1, node: 'v1', dropped: ['net'] },
  started: { t: 'started', id },
  out: { t: 'out', emits: ['a'], values: ['a'], whispers: [{ to: 'a', text: 'b' }] },
  tool: { t: 'tool', seq: 1, name: 'tool.x', args: [], at },
  together: { t: 'together', calls: [{ t: 'tool', seq: 1, name: 'tool.x', args: [], at: { ...at, fork: 'f.1', together: 1 } }] },
  probe: {
    ...{ t: 'probe', frames: [{ kind: 'host', name: 'run', source: 'a', line: 1 }] },
    ...{ marks: [0, 1, 1], nodes: [0, 0, 1, 1, 1], spent: [0, 1, 1, 1] },
    end: {
      ...{ steps: 1, unmarked: 1, folded: 1 },
      step: {
        ...{ step: 1, source: 'a', line: 1, column: 1, visit: 1, fuel: 1, more: 1 },
        stack: [
          { name: 'f', source: 'a', line: 1, more: 1, variables: [{ name: 'v', type: 'string', text: 't', cut: true, size: 1 }] },
        ],
      },
    },
  },
  prompt: { t: 'prompt', seq: 1, text: 'p', at },
  ask: { t: 'ask', seq: 1, model: 'm', prompt: 'p', options: null, left: { fuel: 1, memoryBytes: 1, toolCalls: 1 }, at },
  var: { t: 'var', found: false, value: null, error: null },
  result: { t: 'result', id, result: success, usage, errors: [], last: false },
  parsed: { t: 'parsed', id, diagnostics: [diagnostic], files: [file], open: ['a'] },
  checked: {
    ...{ t: 'checked', id, diagnostics: [], files: [] },
    findings: [
      {
        ...{ code: 'LINT_A', severity: 'info', file: 'a', ...range, message: 'm', tool: 'tool.x' },
        fix: { message: 'm', edits: [{ ...range, text: 't' }] },
      },
    ],
    estimates: [
      {
        ...{ kind: 'command', name: 'n', file: 'a', line: 1, column: 1, least: 1, most: 2 },
        because: { message: 'm', file: 'a', line: 1, column: 1 },
      },
    ],
  },
  foreseen: {
    ...{ t: 'foreseen', id, diagnostics: [] },
    foreseen: {
      ...{ fuel: 1, memoryBytes: null, outputBytes: 1, scratchBytes: 1 },
      because: { message: 'm', file: 'a', line: 1, column: 1 },
      calls: [
        {
          ...{ name: 'tool.x', file: 'a', line: 1, column: 1, elsewhere: false, most: 1, least: 0 },
          args: [
            { value: 1 },
            { oneOf: ['a', { $num: 'NaN' }], from: [1] },
            { types: ['list'], each: { types: ['number'], least: 0, most: 1 } },
            { types: ['list'], items: [{ prefix: 'a' }] },
            { types: ['map'], entries: [['k', {}]] },
          ],
          when: [{ kind: 'if', text: 'a', file: 'a', line: 1 }],
        },
      ],
    },
  },
  formatted: { t: 'formatted', id, text: 't', diagnostics: [] },
  fatal: { t: 'fatal', message: 'm' },
};

/** A result with every field that a result can have. */
export const FULL_RESULT: WorkerFrame = {
  ...FRAMES.result,
  errors: [diagnostic],
  result: {
    ...success,
    ok: false,
    error: full,
    eventErrors: [{ event: 'e', error: full }],
    variables: { kept: [{ name: 'v', value: 1 }], lost: ['w'] },
  },
};

export const TYPES = Object.keys(FRAMES) as readonly WorkerFrame['t'][];
