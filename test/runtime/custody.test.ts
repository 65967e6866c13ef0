import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  ConfigError,
  createRuntime,
  currentTurn,
  defineTool,
  type HostContext,
  type Logger,
  type Runtime,
  SILENT_LOGGER,
  type ToolRuntime,
} from '../../src/entries/index.ts';
import { command, func } from './sources.ts';

/** What other tests prove of the parts, each row once more with everything in place: through the real sandbox. */

/** What a tool found while its call was open. */
interface Found {
  readonly runtime: ToolRuntime;
  readonly ambient: boolean;
  readonly x: unknown;
}

const found: Found[] = [];
const attempts: unknown[] = [];
let runtime: Runtime;

const TOOLS = [
  defineTool({
    name: 'tool.test.Look',
    run: async (_args, caller) => {
      found.push({ runtime: caller, ambient: currentTurn() === caller.turn, x: await caller.getVar('x') });
      caller.logger.info({ fork: caller.forkId }, 'looked');
      return [caller.actor?.id ?? null, caller.turn.sessionId, caller.turn.turnIndex];
    },
  }),
  defineTool({
    name: 'tool.test.Tamper',
    description: 'tries to change what all forks share, and what the caller alone has',
    run: (_args, { host, turn, tools }) => {
      const parts: readonly (readonly [object, object])[] = [
        [host, { actor: null }],
        [host.actor ?? {}, { id: 'did:x:mallory' }],
        [host.logger, { info: () => undefined }],
        [turn, { sessionId: 'other' }],
        [tools, { forkId: 'fork-0' }],
      ];
      for (const [part, change] of parts) attempts.push(outcome(() => Object.assign(part, change)));
      return null;
    },
  }),
  defineTool({
    name: 'tool.test.Forks',
    description: 'forks its own root in the middle of a call',
    run: (_args, { turn }) => {
      const inner = runtime.interpreter().fork();
      return [inner.turn === turn, inner.turn.sessionId, inner.id];
    },
  }),
];

function outcome(attempt: () => unknown): string {
  try {
    attempt();
    return 'done';
  } catch (error) {
    return error instanceof TypeError ? 'TypeError' : String(error);
  }
}

beforeAll(async () => {
  runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());
beforeEach(() => {
  found.length = 0;
  attempts.length = 0;
});

const LIBRARY = func('deep(needs x returns r)', 'return tool.test.Look()');
const PROGRAM = command('set x = "top"', 'emit tool.test.Look()', 'emit deep("inner")');

async function rootOf(actor: string, logger: Logger = SILENT_LOGGER) {
  const root = runtime.interpreter({ host: { logger }, actor: { id: actor } });
  await root.load(LIBRARY);
  return root;
}

it('CTX-2-1 CTX-2A-6 CTX-2B-2: a tool is handed exactly three contexts: host with actor, turn with session and index, state of its caller', async () => {
  const root = await rootOf('did:x:ann');
  using turn = runtime.turn({ sessionId: 's', turnIndex: 4, values: { tenant: 'T' } });
  const { values } = await root.fork({ turn }).execute(PROGRAM);
  expect(values).toEqual([
    ['did:x:ann', 's', 4],
    ['did:x:ann', 's', 4],
  ]);
  expect(found.map(({ x, ambient }) => [x, ambient])).toEqual([
    ['top', true],
    ['inner', true],
  ]);
  for (const { runtime: caller } of found) {
    expect([caller.host === root.host, caller.actor === root.host.actor, caller.logger === root.host.logger]).toEqual([
      true,
      true,
      true,
    ]);
    expect(caller.turn.value('tenant')).toBe('T');
    expect(caller.tools.forkId).toBe(caller.forkId);
  }
});

it('CTX-2A-1 CTX-2A-2: the host context is made with the root; no tool can change it, nor what a turn and a view say', async () => {
  const root = await rootOf('did:x:ann');
  const { host } = root;
  expect(outcome(() => Object.assign(root, { host: null }))).toBe('TypeError');
  expect((await root.execute(command('call tool.test.Tamper()', 'emit tool.test.Look()'))).values).toEqual([
    ['did:x:ann', null, null],
  ]);
  expect(attempts).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError']);
  expect(root.host).toBe(host);
});

it('CTX-2A-4: without a logger there is no root; with one, every fork’s tools write to it', async () => {
  expect(() => runtime.interpreter({ host: { actor: { id: 'a' } } as never })).toThrow(ConfigError);
  expect(() => runtime.interpreter({ host: { actor: { id: 'a' } } as never })).toThrow(/logger is missing/);
  const lines: unknown[] = [];
  const logger = { ...SILENT_LOGGER, info: (fields: object, message: string) => lines.push([fields, message]) };
  await (await rootOf('did:x:ann', logger)).execute(PROGRAM);
  expect(lines).toEqual(found.map(({ runtime: { forkId } }) => [{ fork: forkId }, 'looked']));
  expect(lines).toHaveLength(2);
});

it('CTX-2A-7 CTX-3-3: the same host context object in every fork, procedure and session, and another one in another root', async () => {
  const [ann, bob] = await Promise.all([rootOf('did:x:ann'), rootOf('did:x:bob')]);
  using one = runtime.turn({ sessionId: 'one' });
  using two = runtime.turn({ sessionId: 'two' });
  for (const turn of [one, two]) await ann.fork({ turn }).execute(PROGRAM);
  const hosts = new Set<HostContext>(found.map(({ runtime: { host } }) => host));
  expect([...hosts]).toEqual([ann.host]);
  await bob.execute(PROGRAM);
  expect(found.at(-1)?.runtime.host).toBe(bob.host);
  expect(bob.host).not.toBe(ann.host);
});

it('CTX-3-6 CTX-3-8: 100 forks and their procedure calls: distinct ids, distinct views, the same definitions', async () => {
  const root = await rootOf('did:x:ann');
  for (let n = 0; n < 100; n++) await root.execute(PROGRAM);
  expect(found).toHaveLength(200);
  expect(new Set(found.map(({ runtime: { forkId } }) => forkId)).size).toBe(200);
  expect(new Set(found.map(({ runtime: { tools } }) => tools)).size).toBe(200);
  expect(new Set(found.map(({ runtime: { tools } }) => tools.lookup('tool.test.Look')))).toEqual(new Set([TOOLS[0]]));
});

it('CTX-2B-5 CTX-4-4: who forks in the middle of a call passes the turn on; nothing is derived from an empty one', async () => {
  const root = await rootOf('did:x:ann');
  using turn = runtime.turn({ sessionId: 's', turnIndex: 1 });
  const { values } = await root.fork({ turn }).execute(command('emit tool.test.Forks()'));
  expect(values).toEqual([[true, 's', expect.stringMatching(/^fork-\d+$/)]]);
});
