import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createThreadRuntime, type ThreadRuntimeOptions } from '../../src/browser/index.ts';
import { LoopController } from '../../src/loop/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { importsOf, loadedWith, productFiles } from '../architecture/imports.ts';
import { command } from '../cli/spawn.ts';
import { agentOf, SESSION } from '../loop/suspend/stage.ts';

const tool = (name: string) =>
  defineTool({ name, args: [{ name: 'what', type: 'any', required: false }], run: async ({ what }) => `${name} ${what}` });

const OPTIONS: ThreadRuntimeOptions = {
  concurrency: 1,
  tools: ['tool.mail.Send', 'tool.web.Get', 'tool.pay.Quote', 'tool.pay.Buy', 'tool.disk.Wipe'].map(tool),
  policy: {
    allow: ['tool.*'],
    deny: ['tool.disk.*'],
    when: { 'tool.mail.Send': [{ what: '*@example.com' }] },
    order: [{ tool: 'tool.pay.Buy', needs: 'tool.pay.Quote' }],
    flow: { labels: { 'tool.web.*': ['web'] }, sinks: { 'tool.pay.Quote': { refuse: ['web'] } } },
  },
};

describe('issue 50: the runtime without native code', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createThreadRuntime(OPTIONS);
  });
  afterAll(() => runtime.close());

  it.each([
    ['deny', command('emit tool.disk.Wipe(1)'), 'policy rule: tool.disk.*'],
    ['when', command('emit tool.mail.Send("eve@evil.org")'), 'when tool.mail.Send'],
    ['order', command('emit tool.pay.Buy(1)'), 'order tool.pay.Buy needs tool.pay.Quote'],
    ['flow', command('set page = tool.web.Get(1)', 'emit tool.pay.Quote(page)'), 'flow tool.pay.Quote'],
  ])('keeps the policy: %s', async (_rule, source, reason) => {
    const result = await runtime.run(source);
    expect(result).toMatchObject({ ok: false, emits: [], error: { nsCode: 1003 } });
    expect(result.error?.message).toContain(reason);
  });

  it('has the journal of a run, and the limits', async () => {
    const result = await runtime.run(command('call tool.pay.Quote(1)', 'emit tool.pay.Buy(2)'));
    expect(result).toMatchObject({ ok: true, emits: ['tool.pay.Buy 2'] });
    expect(result.journal.map((entry) => entry.kind === 'tool' && [entry.name, entry.args, entry.outcome])).toEqual([
      ['tool.pay.quote', [1], { ok: true, value: 'tool.pay.Quote 1' }],
      ['tool.pay.buy', [2], { ok: true, value: 'tool.pay.Buy 2' }],
    ]);
    const endless = command('set x = 1', 'while true', 'set x = x + 1', 'endwhile');
    expect((await runtime.run(endless, { limits: { fuel: 1000 } })).error).toMatchObject({ limit: 'fuel' });
    expect((await runtime.run(endless, { limits: { fuel: 1e15, cpuMs: 20 } })).error).toMatchObject({ limit: 'cpuMs' });
  });

  it('drives the loop to its decision', async () => {
    const controller = new LoopController({ runtime });
    const asks = (action: string) => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
    const agent = agentOf(command('emit tool.pay.Quote(1)', asks('continue')), command('emit tool.pay.Buy(1)', asks('done')));
    const result = await controller.runLoop({ ...SESSION, agent });
    expect(result).toMatchObject({ decision: 'DONE', turns: [{ turn: 1 }, { turn: 2 }] });
    expect(result.output).toContain('tool.pay.Buy 1');
  });

  it('says what it lacks, and takes no options of processes', async () => {
    expect(runtime.launcher).toBe('none');
    expect(runtime.lacks.map(({ what }) => what)).toContain(
      'the operating system does not confine the workers: the workers are threads of this process',
    );
    for (const options of [{ launcher: 'required' }, { isolation: 'process' }, { files: { worker: '/w', guest: '/g' } }])
      await expect(createThreadRuntime(options as ThreadRuntimeOptions)).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });

  it('loads nothing of Node with the entry point of pages', () => {
    const imports = productFiles().flatMap(importsOf);
    const loaded = loadedWith('src/browser/index.ts', imports);
    expect(loaded.size).toBeGreaterThan(50);
    const ofNode = imports.filter(
      ({ from, to, typeOnly, later }) => loaded.has(from) && to.startsWith('node:') && !typeOnly && !later,
    );
    expect(ofNode.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});
