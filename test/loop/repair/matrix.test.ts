import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LoopController, MemoryLog, MemoryStore, SqliteStore } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { folder, neuroscript } from '../../cli/spawn.ts';
import { SLOW } from '../../groups.ts';
import { askBench } from '../ask/bench.ts';
import { USERDATA } from '../fake.ts';
import { AGENT, TOOLS } from './files.ts';
import { CORRECT, Desk, type Driven, expectRepaired, REASONS } from './reasons.ts';

async function byLibrary(text: string): Promise<Driven> {
  const desk = new Desk(text);
  const { agent, options } = desk;
  await using runtime = await createRuntime(options);
  const [store, log] = [new MemoryStore(), new MemoryLog()];
  const { decision } = await new LoopController({ runtime, store, log }).runLoop({ sid: 's', userdata: USERDATA, agent });
  expect(decision).toBe('DONE');
  expect(log.entries).toMatchObject([{ turn_index: 1, decision: 'DONE', attempts: 2 }]);
  return desk.driven(store, 's');
}

async function byAsk(text: string): Promise<Driven> {
  const desk = new Desk(text);
  await using bench = await askBench({ agents: { helper: desk.agent }, runtime: desk.options });
  const result = await bench.run('ask "helper", "go" into answer');
  expect(result.error).toBeNull();
  const [summary] = await bench.store.list();
  const driven = await desk.driven(bench.store, summary?.sid ?? '');
  const { attempts = [], usage } = driven.record ?? {};
  // The asking run pays for every attempt.
  const [entry] = result.journal;
  const fuel = attempts.reduce((sum, attempt) => sum + attempt.usage.fuel, usage?.fuel ?? 0);
  expect(entry?.kind === 'ask' ? entry.spent?.fuel : null).toBe(fuel);
  return driven;
}

async function byCommand(text: string): Promise<Driven> {
  const cwd = folder({
    'tools.mjs': TOOLS,
    'agent.mjs': AGENT,
    'command.first': text,
    'command.second': CORRECT,
    'policy.json': '{"allow": ["tool.*"], "deny": ["tool.secret.*"]}',
    'userdata.json': '{"subject": "command", "fields": {}}',
  });
  const files = ['--tools', 'tools.mjs', '--policy', 'policy.json', '--userdata', 'userdata.json', '--store', 's.db'];
  const ended = await neuroscript(['loop', '--agent', `command:${process.execPath} agent.mjs`, ...files, '--sid', 's'], { cwd });
  expect(ended).toMatchObject({ code: 0 });
  using store = await SqliteStore.open(join(cwd, 's.db'));
  const [record] = await store.turns('s');
  const textOf = (name: string): string => readFileSync(join(cwd, name), 'utf8');
  return { prompts: [1, 2].map((each) => textOf(`command.${each}.txt`)), record, sent: textOf('s.sent').length };
}

describe('A3-3.3-8 AMB-32 issue 43: each reason to ask an agent again', () => {
  it.each(REASONS)('the library: %s', async (_, text, told) => expectRepaired(await byLibrary(text), told));

  it.each(REASONS)('nested ask: %s', async (_, text, told) => expectRepaired(await byAsk(text), told));

  it.each(REASONS)('the command loop: %s', SLOW, async (_, text, told) => expectRepaired(await byCommand(text), told));
});
