import { describe, expect, it } from 'vitest';
import { Keyring, type MinterOptions, MintLedger, verifyToken } from '../../src/aeiou/index.ts';
import { createHostContext, createStores, readersOf, type TurnContext } from '../../src/context/index.ts';
import { rootTurn, type TurnInit } from '../../src/context/turn.ts';
import { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from '../../src/loop/magic.ts';
import type { ToolRuntime } from '../../src/tools/define/definition.ts';
import { ToolError } from '../../src/tools/errors.ts';
import { Handles } from '../../src/tools/handles.ts';
import { ToolRegistry } from '../../src/tools/registry.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import {
  brokenSigner,
  FALLBACK,
  goldenKeys,
  goldenTurn,
  IDS,
  NONCE,
  PRIMARY,
  remoteKeys,
  SID,
  TestClock,
  TOKENS,
  thrownBy,
} from '../aeiou/kit.ts';

const DONE = { kind: 'LOOP', payload: { action: 'done' }, opts: null };

interface Setting {
  readonly turn: TurnContext;
  readonly ledger: MintLedger;
  readonly warnings: object[];
  call(args?: Readonly<Record<string, unknown>>, turn?: TurnContext, together?: number): Promise<unknown>;
}

function setting(options: Partial<MinterOptions> = {}, init: TurnInit = { sessionId: SID, turnIndex: 1, nonce: NONCE }): Setting {
  const ledger = new MintLedger();
  const turn = rootTurn(() => 0).derive({ ...init, values: { [MINT_LEDGER]: ledger } });
  const tool = createMagicTool({ keyring: goldenKeys(), clock: new TestClock(), ids: IDS, ...options });
  const warnings: object[] = [];
  const logger = { debug() {}, info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
  const host = createHostContext({ logger });
  const runtimeOf = (current: TurnContext, together?: number): ToolRuntime => ({
    forkId: 'f1',
    site: { fork: 'f1', source: 'ACTIONS', line: 1, column: 1, together },
    call: { key: null, fence: null },
    host,
    mayCall: () => true,
    actor: null,
    turn: current,
    signal: current.signal,
    logger: host.logger,
    tools: new ToolRegistry().forFork('f1'),
    handles: new Handles(),
    stores: readersOf(createStores()),
    adminStores: () => createStores(),
    sandboxDir: async () => '',
    definitions: { append: () => Promise.reject(new Error('none here')), signatures: async () => new Map() },
    defineConstant: async () => {},
    getVar: async () => undefined,
    setVar: async () => {},
    callTool: async () => null,
    mayWait: false,
    waitedFor: null,
    reserve: async () => {},
    charge: async () => {},
    labels: [],
    carry: () => {},
    carryMeta: () => {},
    pending: ({ reason }) => {
      throw new Error(reason);
    },
  });
  return {
    turn,
    ledger,
    warnings,
    call: async (args = DONE, current = turn, together) => tool.run(args, runtimeOf(current, together)),
  };
}

async function failure(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof ToolError)) throw new Error(`no ToolError: ${String(error)}`);
  return error;
}

describe('tool.aeiou.magic', () => {
  it('A3-6.1-1: takes kind, payload and optional opts, in this order, and returns a text', async () => {
    const tool = createMagicTool({ keyring: goldenKeys(), clock: new TestClock(), ids: IDS });
    expect([tool.name, tool.returns]).toEqual([MAGIC_TOOL, 'string']);
    expect(tool.parameters.map(({ name, required }) => `${name} ${required}`)).toEqual([
      'kind true',
      'payload true',
      'opts false',
    ]);
    expect(await setting().call()).toBe(TOKENS.T1);
  });

  it('AL3-3-3 A3-6.3-7 A3-6.3-8: session, turn and nonce come from the turn alone; no argument names others', async () => {
    const forged = { session_id: 'other', turn_index: 9, turn_nonce: 'AAAA', sid: 'other', kid: 'x', jti: 'y' };
    const token = await setting().call({ ...DONE, payload: { action: 'done', ...forged } });
    const result = verifyToken(String(token), goldenTurn());
    expect(result).toMatchObject({ ok: true, payload: { session_id: SID, turn_index: 1, turn_nonce: NONCE, kid: PRIMARY } });
    const error = await failure(setting().call({ ...DONE, opts: { session_id: 'other' } }));
    expect(error.nsCode).toBe(4);
  });

  it('a context derived within the turn mints for the same turn, with the same count', async () => {
    const { turn, ledger, call } = setting();
    expect(await call(DONE, turn.derive({ deadline: Date.now() + 1000 }))).toBe(TOKENS.T1);
    expect(ledger.mints).toBe(1);
  });

  it('bad arguments are code 4 and say what to write', async () => {
    for (const args of [
      { ...DONE, kind: 'FOO' },
      { ...DONE, payload: 'done' },
      { ...DONE, payload: { action: 'halt' } },
      { ...DONE, opts: { ttl: 0 } },
      { ...DONE, payload: { action: 'done', request: { x: 1.5 } } },
    ]) {
      const error = await failure(setting().call(args));
      expect([error.nsCode, error.message.split(':')[0]]).toEqual([4, 'ERR_MAGIC_TOOL_ARGS']);
      expect(error.hint).toContain("tool.aeiou.magic(\"LOOP\", {'action': 'done'})");
    }
  });

  it('the mint cap is code 37', async () => {
    const { call } = setting({ mintCap: 1 });
    await call();
    expect((await failure(call())).nsCode).toBe(37);
  });

  it('outside of a turn it is code 19 and says where it works', async () => {
    const outside = setting();
    const bare = [
      rootTurn(() => 0),
      rootTurn(() => 0).derive({ sessionId: SID, turnIndex: 1 }),
      rootTurn(() => 0).derive({ sessionId: SID, turnIndex: 1, nonce: NONCE }),
    ];
    for (const turn of bare) {
      const error = await failure(outside.call(DONE, turn));
      expect([error.nsCode, error.hint]).toEqual([19, expect.stringContaining('neuroscript loop')]);
    }
  });

  it('together with other calls it is code 19, and nothing is minted', async () => {
    const { turn, ledger, call } = setting();
    const error = await failure(call(DONE, turn, 1));
    expect([error.nsCode, error.message]).toEqual([19, 'tool.aeiou.magic cannot run together with other calls']);
    expect(ledger.mints).toBe(0);
  });

  it('after the end of the turn nothing is minted: code 19 (threat 23)', async () => {
    const { turn, ledger, call } = setting();
    turn.close();
    expect((await failure(call())).nsCode).toBe(19);
    expect(ledger.mints).toBe(0);
  });

  it('A3-11.4-1: without a fallback key there is no tool', () => {
    const keyring = new Keyring({ clock: new TestClock() });
    expect(thrownBy(() => createMagicTool({ keyring, clock: new TestClock(), ids: IDS }))).toBeInstanceOf(ConfigError);
  });

  it('A3-11.4-2: a broken primary gives an abort token of the fallback, and one line in the log without secrets', async () => {
    const keyring = remoteKeys(brokenSigner);
    const { call, ledger, warnings } = setting({ keyring });
    const result = verifyToken(String(await call()), goldenTurn({ keys: keyring }));
    expect(result).toMatchObject({ ok: true, payload: { kid: FALLBACK, payload: { action: 'abort' } } });
    expect(warnings).toEqual([{ sid: SID, turn: 1, kid: FALLBACK, reason: 'the key service is down' }]);
    expect(ledger.fallbacks).toBe(1);
  });

  it('A3-6.1-4: when nobody can sign it is code 6, which a program can catch, and the ledger keeps it', async () => {
    const keyring = remoteKeys(() => new Uint8Array(1));
    const signer = keyring.signer.bind(keyring);
    keyring.signer = (role) => {
      const found = signer(role);
      return found === null ? null : { ...found, sign: () => Promise.reject(new Error('down')) };
    };
    const { call, ledger } = setting({ keyring });
    const error = await failure(call());
    expect([error.nsCode, error.message.split(':')[0]]).toEqual([6, 'ERR_MAGIC_TOOL_INTERNAL']);
    expect(ledger.failed).toBe(true);
  });
});
