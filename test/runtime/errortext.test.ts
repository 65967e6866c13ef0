import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKeys, keyringFrom } from '../../src/aeiou/index.ts';
import { neuroscriptTool } from '../../src/ai/index.ts';
import { runInPage } from '../../src/browser/index.ts';
import {
  functionAgent,
  LoopController,
  MemoryStore,
  programReply,
  systemClock,
  toPublicLoop,
  toPublicTurn,
} from '../../src/loop/index.ts';
import { plainPalette, renderEnd } from '../../src/report/index.ts';
import { answerRequest, createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { RunError } from '../../src/wire/text/runerror.ts';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime();
});
afterAll(() => runtime.close());

const LINES = ['command', '  set total = 10', '  emit total / 0', 'endcommand'];
const PROGRAM = LINES.join('\n');
/** Place, line with a caret, message and code. */
const said = (name: string) => new RegExp(`^${name}:3:\\d+: .+ \\(NS14\\)\n {6}emit total / 0\n +\\^`);

describe('issue 50: the text of an error', () => {
  it('is in the result of a run, as the terminal prints it', async () => {
    const { error } = await runtime.run(PROGRAM);
    expect(error?.text).toMatch(said('src'));
    expect(String(error)).toBe(error?.text);
    const texts = new Map([['src', PROGRAM]]);
    expect(error && renderEnd(error, [], texts, plainPalette).join('\n')).toBe(error?.text);
  });

  it('is in the JSON of a result, and not in a copy of the fields', async () => {
    const { error } = await runtime.run(PROGRAM);
    expect(JSON.parse(JSON.stringify(error))).toEqual({ ...error, text: error?.text });
    expect(error && Object.keys(error)).not.toContain('text');
  });

  it('names the file of a library, and the procedure', async () => {
    const lib = 'func bad() means\n  return 1 / 0\nendfunc\n';
    const { error } = await runtime.run('command\n  emit bad()\nendcommand', { lib });
    expect(error?.text).toMatch(/^lib:2:\d+: .*\n {6}return 1 \/ 0\n +\^\n {2}hint: .+\n {2}in bad \(lib:1:1\)/);
  });

  it('has every syntax error, up to ten', async () => {
    const { error, errors = [] } = await runtime.run(`command\n${'  emit +\n'.repeat(14)}endcommand`);
    expect(error?.text.match(/^src:\d+:/gm)).toHaveLength(10);
    expect(error?.text).toContain(`… ${errors.length - 10} more …`);
  });

  it('is in the answer to a request, also to one that cannot be read', async () => {
    const line = JSON.stringify({ id: 1, src: PROGRAM });
    expect((await answerRequest(runtime, line)).error?.text).toMatch(said('src'));
    expect((await answerRequest(runtime, '{')).error?.text).toMatch(/^neuroscript: .+ \(ERR_USAGE\)$/);
  });

  it('is in the errors of event handlers', async () => {
    const source = 'on event "e" do\n  emit 1 / 0\nendon\n';
    const { eventErrors } = await runtime
      .interpreter()
      .fork()
      .runRequest({ sources: [{ name: 'src', text: source }], events: [{ name: 'e', source: 't', payload: null }] });
    expect(eventErrors[0]?.error.text).toMatch(/^src:2:\d+: .+\n {6}emit 1 \/ 0\n/);
  });

  it('is in the public form of turns and loops, and not in the record', async () => {
    const store = new MemoryStore();
    const keyring = keyringFrom(generateKeys('app'), { clock: systemClock });
    const loop = new LoopController({ runtime, keyring, store });
    const agent = functionAgent(() => programReply(PROGRAM));
    const result = await loop.runLoop({ sid: 's', userdata: { subject: 't', fields: {} }, agent, maxReasks: 0 });
    expect(result.error?.text).toMatch(said('ACTIONS'));
    expect(toPublicLoop(result).turns[0]?.error?.text).toBe(result.error?.text);
    const [record] = await store.turns('s');
    expect(JSON.stringify(record)).not.toContain('"text":"ACTIONS:');
    expect(record && toPublicTurn(record).error?.text).toBe(result.error?.text);
  });

  it('is in what a tool of the AI SDK gives, and in a page', async () => {
    const output = await neuroscriptTool(runtime).execute({ program: PROGRAM });
    expect(output.error?.text).toMatch(said('program'));
    expect(runInPage(PROGRAM).error?.text).toMatch(said('src'));
    expect(runInPage('command\n  emit +\nendcommand').error?.text).toMatch(/^src:2:\d+: .+\n {6}emit \+\n/);
    const handler = 'on event "e" do\n  emit 1 / 0\nendon\n';
    const { eventErrors } = runInPage(handler, { events: [{ name: 'e', source: 'h', payload: null }] });
    expect(eventErrors[0]?.error.text).toMatch(/^src:2:\d+: .+\n {6}emit 1 \/ 0\n/);
  });

  it('is bounded, whatever the message, the names and the line are', () => {
    const long = '\u202e'.repeat(20_000);
    const stack = Array.from({ length: 100 }, () => ({ name: long, source: long, line: 1, column: 1 }));
    const info = {
      kind: 'runtime',
      code: 'NS1',
      nsCode: 1,
      name: 'x',
      message: long,
      source: 's',
      line: 1,
      column: 15_000,
    } as const;
    const { text } = new RunError({ ...info, hint: long, stack }, [{ name: 's', text: long }]);
    expect(text).toHaveLength(8000);
  });

  it('finds a line among a million without splitting the text', () => {
    const lines = '\n'.repeat(1_000_000);
    const info = {
      kind: 'syntax',
      code: 'NS15',
      nsCode: 15,
      name: 'x',
      message: 'm',
      source: 's',
      line: 1_000_001,
      column: 1,
    } as const;
    const { text } = new RunError({ ...info, stack: [] }, [{ name: 's', text: `${lines}here` }]);
    expect(text).toBe('s:1000001:1: m (NS15)\n    here\n    ^');
  });
});
