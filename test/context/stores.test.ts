import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AccountStore, AgentModelStore, CapsuleLayers, createStores, readersOf, Secret } from '../../src/context/index.ts';
import { encode } from '../../src/wire/codec.ts';
import { ConfigError } from '../../src/wire/errors.ts';

const KEY = 'sk-live-4711';
const account = { kind: 'llm', provider: 'acme', api_key: KEY };

/** The common ways in which a value becomes readable. */
function shown(value: unknown): string {
  const record: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  return [
    String(value),
    JSON.stringify({ value }),
    inspect(value, { depth: 9, showHidden: true }),
    Object.entries(record).join(),
    new Error(`failed with ${inspect(value)}`).message,
  ].join('\n');
}

describe('a secret', () => {
  it('is given to who asks for it by name, and shown to nobody', () => {
    const secret = new Secret(KEY);
    expect(secret.reveal()).toBe(KEY);
    expect(shown(secret)).not.toContain(KEY);
    expect(`${secret}`).toBe('[secret]');
    expect(Object.keys(secret)).toEqual([]);
    expect(JSON.stringify(structuredClone({ ...secret }))).toBe('{}');
    expect(() => encode(secret)).toThrow('class instance');
    expect(() => encode({ deep: [secret] })).toThrow(/deep\[0\].*class instance/);
    expect(Object.isFrozen(secret)).toBe(true);
  });

  it('that is none is refused without being shown', () => {
    for (const bad of ['', 4711, null, { key: KEY }])
      expect(() => new Secret(bad as never)).toThrow(new ConfigError('a secret must be a text that is not empty'));
  });
});

describe('accounts', () => {
  it('are found by their name in any case, frozen, with a key that never shows', () => {
    const store = new AccountStore();
    store.register('Work', { ...account, org_id: 'org-1', notes: 7 });
    const found = store.get('wORK');
    expect(found).toMatchObject({ name: 'Work', kind: 'llm', provider: 'acme', org_id: 'org-1', notes: '7' });
    expect(found?.api_key.reveal()).toBe(KEY);
    expect(shown(found)).not.toContain(KEY);
    expect(shown(store)).not.toContain(KEY);
    expect(Object.isFrozen(found)).toBe(true);
    expect(store.list()).toEqual(['work']);
    expect(store.get('other')).toBeUndefined();
    expect([store.delete('WORK'), store.delete('work'), store.list()]).toEqual([true, false, []]);
  });

  it('are refused with every problem at once and no value of theirs', () => {
    const store = new AccountStore();
    const refused = (name: unknown, fields: unknown): string => {
      try {
        store.register(name as string, fields as never);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        return String(error);
      }
      return 'taken';
    };
    const message = refused('a', { kind: '', apikey: KEY, api_key: 4711 });
    for (const problem of ["'apikey' is not one of its fields", 'kind must be', 'provider is missing'])
      expect(message).toContain(problem);
    expect(message).not.toContain(KEY);
    expect(message).not.toContain('4711');
    expect(refused('a b', account)).toContain('the name of an account must be');
    expect(refused('', account)).toContain('the name');
    expect(refused('a', null)).toContain('must be a map');
    expect(refused('a', account)).toBe('taken');
    expect(refused('A', account)).toContain("there is an account 'A' already");
    expect(refused('__proto__', account)).toContain('the name');
    expect(refused('constructor', account)).toBe('taken');
  });
});

describe('agent models', () => {
  it('take numbers and truth values as text too, and keep only what they know', () => {
    const store = new AgentModelStore();
    store.register('Fast', {
      provider: 'acme',
      model: 'acme-1',
      temperature: '0.2',
      max_turns: 4,
      tool_loop_permitted: 'TRUE',
      stop_sequences: 'END',
      response_format: 'json_object',
      base_url: 'https://api.example.org/v1',
      params: { deep: [{ a: 1 }] },
      seed: null,
    });
    const found = store.get('fast');
    expect(found).toEqual({
      name: 'Fast',
      provider: 'acme',
      model: 'acme-1',
      temperature: 0.2,
      max_turns: 4,
      tool_loop_permitted: true,
      stop_sequences: ['END'],
      response_format: 'json_object',
      base_url: 'https://api.example.org/v1',
      params: { deep: [{ a: 1 }] },
    });
    expect(() => Reflect.apply(Array.prototype.push, found?.params?.['deep'], [2])).toThrow(TypeError);
  });

  it('are merged by an update; nil takes a field away, and a bad field changes nothing', () => {
    const store = new AgentModelStore();
    store.register('m', { provider: 'acme', model: 'a', temperature: 1, notes: 'x' });
    store.update('M', { temperature: 0, notes: null, model: 'b' });
    expect(store.get('m')).toEqual({ name: 'm', provider: 'acme', model: 'b', temperature: 0 });
    expect(() => store.update('m', { top_k: 1.5 })).toThrow('top_k must be a whole number');
    expect(() => store.update('m', { model: null })).toThrow('model is missing');
    expect(() => store.update('n', {})).toThrow("there is no agent model 'n'");
    expect(store.get('m')?.model).toBe('b');
    expect(store.list()).toEqual(['m']);
  });

  it.each([
    ['api_key belongs in an account', { api_key: KEY }],
    ['without a user or password', { base_url: 'https://me:pw@example.org/' }],
    ['http or https', { base_url: 'file:///etc/passwd' }],
    ['top_p must be a number from 0', { top_p: -1 }],
    ['max_turns must be a number', { max_turns: 'many' }],
    ['max_turns must be a whole number from 0', { max_turns: -1 }],
    ['tool_choice must be one of auto, any, none', { tool_choice: 'all' }],
    ['params must be a map', { params: [1] }],
    ['params must be a map of values', { params: { run: () => 1 } }],
    ['temperature must be a number', { temperature: Number.NaN }],
  ])('%s', (problem, fields) => {
    const store = new AgentModelStore();
    expect(() => store.register('m', { provider: 'p', model: 'm', ...fields })).toThrow(problem);
    expect(store.list()).toEqual([]);
  });
});

describe('capsules', () => {
  const one = { name: 'capsule/rules', version: 1, description: 'rules', content: 'Be fair.' };

  it('know their digest and size, and the writable layer covers the ones below', () => {
    const layers = new CapsuleLayers([[one, { ...one, version: 2 }], [{ ...one, name: 'capsule/base', priority: 1 }]]);
    const made = layers.register({ ...one, content: 'Be fair, always: ä.' });
    expect(made).toMatchObject({ id: 'capsule/rules@1', size: 20, mime: 'text/markdown', priority: 100 });
    expect(made.sha256).toBe(createHash('sha256').update('Be fair, always: ä.', 'utf8').digest('hex'));
    expect(layers.get('capsule/rules', 1)?.content).toBe('Be fair, always: ä.');
    // The first layer with the name decides, even if another layer has a higher version.
    expect(layers.latest('capsule/rules')?.version).toBe(1);
    expect(layers.capsules().map(({ id }) => id)).toEqual(['capsule/base@1', 'capsule/rules@1', 'capsule/rules@2']);
    expect(layers.delete('capsule/rules@1')).toBe(true);
    expect(layers.delete('capsule/rules@2')).toBe(false);
    expect(layers.latest('capsule/rules')).toMatchObject({ version: 2, content: 'Be fair.' });
    expect(layers.latest('capsule/none')).toBeUndefined();
  });

  it('are refused with every problem, and twice under one id', () => {
    const layers = new CapsuleLayers();
    const bad = { name: 'Capsule/X', version: 0, description: ' ', content: 1 } as never;
    for (const problem of ['name must be', 'version must be', 'description must be', 'content must be'])
      expect(() => layers.register(bad)).toThrow(problem);
    layers.register(one);
    expect(() => layers.register(one)).toThrow("there is a capsule 'capsule/rules@1' already");
    expect(() => new CapsuleLayers([[one, one]])).toThrow('twice in one layer');
    expect(() => layers.register({ ...one, version: 3, content: 'x'.repeat(2 ** 20 + 1) })).toThrow('at most');
  });
});

describe('the stores of a root', () => {
  it('can be read through a view that has no way to change them', () => {
    const stores = createStores();
    const readers = readersOf(stores);
    stores.accounts.register('a', account);
    expect(readers.accounts.list()).toEqual(['a']);
    for (const reader of Object.values(readers)) {
      expect(Object.isFrozen(reader)).toBe(true);
      for (const change of ['register', 'update', 'delete']) expect(change in reader).toBe(false);
    }
  });

  it('are given whole or not at all', () => {
    expect(() => createStores({ accounts: { get: () => undefined } as never })).toThrow(
      'stores.accounts must be an AccountStore',
    );
    expect(() => createStores({ account: new AccountStore() } as never)).toThrow("unknown key 'account'");
  });
});
