import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runtimeExecutor } from '../../../src/loop/turn/executor.ts';
import { AskLoop } from '../../../src/loop/v1/loop.ts';
import type { V1LoopResult } from '../../../src/loop/v1/record.ts';
import { scriptV1Agent } from '../../../src/loop/v1/script.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { loadMockTools, Policy, type ToolDefinition } from '../../../src/tools/index.ts';
import { MemoryStorage, memoryTools, pathRule, policyTools, systemTools, type Versioned } from '../../../stdlib-tools/index.ts';

const file = (name: string): string => readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');
const PATH = '/ingest/queue/x';
const SCOPE = 'actor:did:example:agent';

/** Plays the example's agent with these tools. */
async function play(tools: readonly ToolDefinition[], policy: Policy): Promise<V1LoopResult> {
  await using runtime = await createRuntime({ tools, policy, concurrency: 1 });
  const root = runtime.interpreter({ actor: { id: 'did:example:agent' } });
  const loop = new AskLoop({ executor: runtimeExecutor(runtime, root) });
  const agent = scriptV1Agent(file('plan-apply-v1/agent.txt'), 'agent.txt');
  return await loop.run({ agent, permitted: true, userdata: JSON.parse(file('plan-apply/userdata.json')) });
}

/** Against the mock tools of a file of examples/. */
function playMocks(name: string): Promise<V1LoopResult> {
  const tools = loadMockTools(file(name), name);
  return play(tools, new Policy({ allow: tools.map((tool) => tool.name) }));
}

/** Against the recommended tools themselves. As many reads as `rivals` says are followed by a write of somebody else. */
async function playReal({
  grants = ['memory:*'],
  paths = ['/ingest/*'],
  rivals = 0,
}: {
  readonly grants?: readonly string[];
  readonly paths?: readonly string[];
  readonly rivals?: number;
} = {}) {
  const storage = new RivalStorage(rivals);
  await storage.cas({ scope: SCOPE, key: PATH, expected: 0, value: 'free', ttlMs: null, at: 0 });
  const policy = new Policy({ allow: ['tool.*'], grants });
  const tools = [...systemTools({ policy }), ...memoryTools({ storage }), ...policyTools(pathRule(paths))];
  return { result: await play(tools, policy), storage };
}

/** A storage in which somebody else writes right after a read. */
class RivalStorage extends MemoryStorage {
  #rivals: number;

  constructor(rivals: number) {
    super();
    this.#rivals = rivals;
  }

  override async get(scope: string, key: string, at: number): Promise<Versioned | null> {
    const found = await super.get(scope, key, at);
    if (this.#rivals > 0 && found !== null) {
      this.#rivals -= 1;
      await this.cas({ scope, key, expected: found.version, value: 'rival', ttlMs: null, at });
    }
    return found;
  }
}

/** Tools that were called turn by turn, and how each turn asked to go on. */
const story = ({ turns }: V1LoopResult) =>
  turns.map(({ control, journal }) => [
    control.signal,
    ...journal.flatMap((entry) => (entry.kind === 'tool' ? [entry.name] : [])),
  ]);

const PLAN = ['continue', 'tool.system.caps'];
const APPLY = ['tool.policy.allow', 'tool.memory.get', 'tool.memory.cas'];

describe('Plan → Apply in the v1 profile', () => {
  it('AL1-4-1: plans on turn 1 without a write, applies on turn 2 with exactly one', async () => {
    const { result, storage } = await playReal();
    expect(result).toMatchObject({
      decision: 'DONE',
      cause: 'done',
      output: '{"loop":"done","notes":"applied 1 op"}\nApplied 1 op to /ingest/queue/x',
    });
    expect(story(result)).toEqual([PLAN, ['done', ...APPLY]]);
    expect(result.turns[0]?.control).toMatchObject({ notes: 'plan ready', planDigest: 'sha256:abc123', lints: [] });
    expect(result.turns[1]?.prompt).toContain('\nPLAN [{"op": "set", "path": "/ingest/queue/x", "value": "taken"}]\nNext: ');
    expect(await storage.get(SCOPE, PATH, 0)).toMatchObject({ value: 'taken', version: 2 });
    expect(story(await playMocks('plan-apply/tools.yaml'))).toEqual(story(result));
  });

  it('AL1-4-2: without the capability it is done on turn 1, with nothing written', async () => {
    const { result, storage } = await playReal({ grants: ['memory:read'] });
    expect(result).toMatchObject({ cause: 'done', output: '{"loop":"done","notes":"missing memory:write"}' });
    expect(story(result)).toEqual([['done', 'tool.system.caps']]);
    expect(await storage.get(SCOPE, PATH, 0)).toMatchObject({ value: 'free', version: 1 });
    expect(story(await playMocks('plan-apply/tools-no-capability.yaml'))).toEqual(story(result));
  });

  it('AL1-4-3: a plan that the policy refuses is done on turn 2, with nothing written', async () => {
    const { result, storage } = await playReal({ paths: ['/other'] });
    expect(result).toMatchObject({ cause: 'done', turns: { length: 2 } });
    expect(result.output).toBe(
      '{"loop":"done","notes":"policy blocked"}\nThe policy refused the plan: step 1: /ingest/queue/x may not be written',
    );
    expect(story(result)).toEqual([PLAN, ['done', 'tool.policy.allow']]);
    expect(await storage.get(SCOPE, PATH, 0)).toMatchObject({ value: 'free', version: 1 });
    expect(story(await playMocks('plan-apply/tools-refused.yaml'))).toEqual(story(result));
  });

  it('AL1-4-4: a version conflict asks to continue, and the next turn succeeds', async () => {
    const { result, storage } = await playReal({ rivals: 1 });
    expect(story(result)).toEqual([PLAN, ['continue', ...APPLY], ['done', 'tool.memory.get', 'tool.memory.cas']]);
    expect(result.output).toContain('on the second try');
    expect(await storage.get(SCOPE, PATH, 0)).toMatchObject({ value: 'taken', version: 3 });
    expect(story(await playMocks('plan-apply/tools-conflict.yaml'))).toEqual(story(result));
  });

  it('AL1-4-4: a conflict again asks for the same control, and the progress guard stops the loop', async () => {
    const { result, storage } = await playReal({ rivals: 9 });
    expect(result).toMatchObject({ decision: 'HALT', cause: 'host', reason: 'no-progress', turns: { length: 3 } });
    expect(story(result)).toEqual([PLAN, ['continue', ...APPLY], ['continue', 'tool.memory.get', 'tool.memory.cas']]);
    expect(result.output).toBe('{"notes":"CAS failed; retry once","loop":"continue"}\n[[loop:halt:reason=no-progress]]');
    expect(await storage.get(SCOPE, PATH, 0)).toMatchObject({ value: 'rival' });
    expect(story(await playMocks('plan-apply-v1/tools-contested.yaml'))).toEqual(story(result));
  });
});
