// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { type McpProgress, type McpServerConfig, McpSource } from '../../src/mcp/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import type { RunResult } from '../../src/wire/result.ts';
import { tempFolder } from '../folder.ts';
import { modernServer } from './servers.ts';

const directory = tempFolder();

const modern = (more: Partial<McpServerConfig> = {}): McpServerConfig => ({
  ...modernServer(),
  ...more,
});

/** All programs run in one runtime; each run gets the tools of its source. */
let runtime: Runtime;
/** One server for all tests of questions: each takes a quarter of a second to start. */
let asking: McpSource;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1 });
  asking = await McpSource.connect({ s: modern({ elicit: true }) });
});
afterAll(async () => {
  await asking.close();
  await runtime.close();
});

const POLICY = { allow: ['*'], grants: ['mcp:*:s'] };

/** Runs one expression with a server of its own. */
async function run(config: McpServerConfig, expression: string, lines: readonly string[] = []) {
  const progress: McpProgress[] = [];
  await using source = await McpSource.connect({ s: config }, { onProgress: (report) => progress.push(report) });
  return { ...(await answer(source, expression, lines)), progress };
}

/** Runs one expression; the user types these lines, and the questions are in `asked`. */
async function answer(source: McpSource, expression: string, lines: readonly string[] = []) {
  const asked: string[] = [];
  const host = {
    logger: SILENT_LOGGER,
    stdin: lines.map((each) => `${each}\n`),
    stdout: { write: (words: string) => asked.push(words) },
  };
  const program = `command\n  emit ${expression}\nendcommand`;
  const result: RunResult = await runtime.run(program, { host, tools: source.tools, policy: POLICY });
  return { values: result.values, error: result.error, asked: asked.join('') };
}

const FORM = "[MCP server 's' asks, in its own words; /decline refuses, /cancel stops]";

describe('a server of protocol version 2026-07-28 asks the user', () => {
  it('a form: one question a field, defaults, checks, and plain words', async () => {
    const { values, asked } = await answer(asking, 'tool.s.ask()', ['Ada', '', 'ten', '36']);
    expect(JSON.parse(String(values[0]))).toEqual({ action: 'accept', content: { name: 'Ada', colour: 'blue', age: 36 } });
    expect(asked).toBe(
      `${FORM} Who are you?\n[s] Your [31m name (string): [s] colour (red | blue; optional) [blue]: ` +
        '[s] age (integer; optional): [s] that does not fit\n[s] age (integer; optional): ',
    );
  });

  it.each([
    ['/decline', 'decline'],
    ['/cancel', 'cancel'],
  ])('%s ends the form', async (line, action) => {
    const { values } = await answer(asking, 'tool.s.ask()', ['Ada', line]);
    expect(JSON.parse(String(values[0]))).toEqual({ action });
  });

  it('the end of the input cancels, and a page is declined unseen', async () => {
    expect((await answer(asking, 'tool.s.ask()', ['Ada'])).values).toEqual(['{"action":"cancel"}']);
    const { values, asked } = await answer(asking, 'tool.s.page()', ['x']);
    expect([values, asked]).toEqual([['{"action":"decline"}'], '']);
  });

  it.each([
    ['without leave', false, 'tool.s.deciding()', 'it asked the user for input; the configuration allows that with elicit: true'],
    ['for ever', true, 'tool.s.endless()', 'it asked for input 10 times and gave no answer'],
    ['for the model', true, 'tool.s.samples()', "it asked for 'sampling/createMessage', which this client does not offer"],
  ])('%s: the call fails', async (_name, elicit, expression, problem) => {
    const lines = Array.from({ length: 20 }, () => 'x');
    const { error } = await (elicit ? answer(asking, expression, lines) : run(modern(), expression, lines));
    expect([error?.code, error?.message]).toEqual(['NS1002', expect.stringContaining(problem)]);
  });
});

describe('a server of protocol version 2026-07-28 answers later', () => {
  it('a task is polled until it ends; its failure is a failure of the call', async () => {
    const until = join(directory, 'ready');
    const begun = run(modern(), `tool.s.slow({"until": ${JSON.stringify(until)}})`);
    writeFileSync(until, '');
    expect((await begun).values).toEqual(['done at last']);
    const { error } = await run(modern(), 'tool.s.failing()');
    expect([error?.code, error?.message]).toEqual(['NS1002', expect.stringContaining('no luck')]);
  });

  it('a task that never ends is ended by the limits of the run', async () => {
    await using source = await McpSource.connect({ s: modern() });
    const { error } = await runtime.run('command\n  emit tool.s.slow({"until": "/never"})\nendcommand', {
      tools: source.tools,
      policy: POLICY,
      limits: { toolMs: 1000 },
    });
    expect(error?.code).toBe('ERR_TIMEOUT');
  });

  it('a task may ask the user', async () => {
    const { values } = await answer(asking, 'tool.s.deciding()', ['Ada']);
    expect(JSON.parse(String(values[0]))).toEqual({ q: { action: 'accept', content: { name: 'Ada' } } });
  });

  it('progress begins the time limit anew, and is reported in plain words', async () => {
    const { values, progress } = await run(modern({ timeoutMs: 4000 }), 'tool.s.work({"ms": 6000, "report": true})');
    expect(values).toEqual(['worked']);
    expect(progress[1]).toEqual({ server: 's', tool: 'work', progress: 500, total: 6000, message: 'still here' });
    const silent = await run(modern({ timeoutMs: 1500 }), 'tool.s.work({"ms": 3000, "report": false})');
    expect(silent.error?.code).toBe('NS1002');
  });
});

describe('a server of protocol version 2026-07-28 changes a tool', () => {
  it('after it was offered: the tool is not called any more, the others are', async () => {
    const { values, error } = await run(modern(), 'tool.s.switch()\n  emit tool.s.work({"ms": 1500})\n  emit tool.s.ask()');
    expect(values).toEqual(['switched', 'worked']);
    expect([error?.code, error?.message]).toEqual(['NS1002', expect.stringContaining("changed its tool 'ask'")]);
  });
});

describe('resources', () => {
  it('are listed in plain words and read by their address, under a grant of their own', async () => {
    const { values } = await run(
      modern(),
      '[tool.s.ListResources(), tool.s.ReadResource("x:/a"), tool.s.ReadResource("x:/bytes")]',
    );
    expect(values).toEqual([
      [
        { resources: [{ uri: 'x:/a\u0007', name: 'a', description: 'one two' }], templates: [] },
        'text of x:/a',
        { $bytes: 'AAEC' },
      ],
    ]);
    await using source = await McpSource.connect({ s: modern({ tools: ['ask', 'ReadResource'] }) });
    expect(source.tools.map(({ name }) => name)).toEqual(['tool.s.ask', 'tool.s.ReadResource']);
    const denied = await runtime.run('command\n  emit tool.s.ReadResource("x:/a")\nendcommand', {
      tools: source.tools,
      policy: { allow: ['*'], grants: ['mcp:call:s'] },
    });
    expect(denied.error?.code).toBe('NS1003');
  });
});
