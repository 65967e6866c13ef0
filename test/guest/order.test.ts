import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../src/wire/mapkeys.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { drive, type ToolIo } from './driver.ts';

const key = fc.oneof(fc.nat(30).map(String), fc.constantFrom('a', 'b', '$num', '$1', '$2', '01', '4294967294', '4294967295'));
const keys = fc.uniqueArray(key, { maxLength: 7 });
const literal = (names: readonly string[]): string => `{${names.map((name, at) => `'${name}': ${at}`).join(', ')}}`;
/** What a program says of such a map: its keys as they were set. */
const said = (names: readonly string[]): string => `{${names.map((name, at) => `"${name}": ${at}`).join(', ')}}`;
const main = (...lines: readonly string[]): string => `func main() means\n${lines.join('\n')}\nendfunc\n`;

const tools = {
  'tool.t.echo': ([value = null]: readonly TaggedJson[]): TaggedJson => value,
  // Gives what it finds in `was` to `now`.
  'tool.t.swap': (_: readonly TaggedJson[], io: ToolIo): TaggedJson => io.setVar('now', io.getVar('was').value).error,
};

/** A map on its way to the host, as JSON. */
function sent(names: readonly string[]): TaggedJson {
  const [call] = drive(main(`call tool.t.echo(${literal(names)})`), { call: 'main', tools }).calls;
  return call?.t === 'tool' ? (call.args[0] ?? null) : null;
}

/** The keys of JSON in their order; a name that only keeps a place is the key itself. */
function keysIn(json: TaggedJson | undefined): readonly (string | null)[] {
  return Object.keys(Object(json)).map(keyOf);
}

describe('P9: keys that are whole numbers keep their places', () => {
  it('in arguments and results of tools, globals, variables, payloads and what a run gives', () => {
    fc.assert(
      fc.property(keys, (names) => {
        const json = sent(names);
        expect(keysIn(json)).toEqual(names);
        const source = [
          main(
            `set m = tool.t.echo(${literal(names)})`,
            'set was = m',
            'set now = nil',
            'call tool.t.swap()',
            'emit [m, now, given]',
            'emit m',
            'return m',
          ),
          'on event "e" as e do\nemit e["payload"][0]["Payload"]\nendon\n',
        ];
        const events = [{ name: 'e', source: 't', payload: json }];
        const driven = drive(source, { call: 'main', tools, globals: { given: json }, events });
        expect(driven.emits).toEqual([`[${said(names)}, ${said(names)}, ${said(names)}]`, said(names), said(names)]);
        expect(keysIn(driven.values[1])).toEqual(names);
        expect(keysIn(driven.result)).toEqual(names);
      }),
      { numRuns: 60 },
    );
  });

  it('in prompts and options of ask, and in errors', () => {
    const source = main("ask 'm', {'10': 1, '2': 2} with {'3': 1, '1': 2} into r", 'emit r');
    const driven = drive(source, { call: 'main', ask: () => ({ $error: { message: 'm', $10: 1, $2: 2 } }) });
    expect(driven.calls[0]).toMatchObject({ prompt: { $10: 1, $2: 2 }, options: { $3: 1, $1: 2 } });
    expect(JSON.stringify(driven.values[0])).toBe('{"$error":{"message":"m","$10":1,"$2":2}}');
    expect(keysIn(Object(driven.values[0]).$error)).toEqual(['message', '10', '2']);
  });

  it('fuel, memory and sizes are those of the keys, whatever JavaScript does with them', () => {
    const cost = (first: string, second: string) => {
      const source = main(
        'set m = {}',
        `for each i in [${Array.from({ length: 300 }, (_, index) => index).join(',')}]`,
        `set m[${first} + i] = i`,
        'endfor',
        `set m[${second}] = 0`,
        'call tool.t.give(m)',
      );
      const { fuel, peakMemoryBytes } = drive(source, { call: 'main', tools: { 'tool.t.give': () => null } });
      return { fuel, peakMemoryBytes };
    };
    // 1000 … 1299, then a key that moves, or one that does not.
    expect(cost('1000', '"999"')).toEqual(cost('1000', '"aaa"'));
  });

  it('a host that sends a key twice, or a name that is none, ends the run: it is none of ours', () => {
    for (const value of [{ 10: 1, $10: 2 }, { $01: 1, a: 2 }, { $01: 1 }])
      expect(drive(main('return tool.t.bad()'), { call: 'main', tools: { 'tool.t.bad': () => value } })).toMatchObject({
        ok: false,
        error: { kind: 'internal' },
      });
  });
});
