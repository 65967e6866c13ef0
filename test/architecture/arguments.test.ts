import { expect, it } from 'vitest';
import * as aeiou from '../../src/entries/aeiou.ts';
import * as runtime from '../../src/entries/index.ts';
import * as receipts from '../../src/receipt/index.ts';
import { thrownBy } from '../aeiou/kit.ts';

const ENTRIES = { aeiou, receipts };
/** Of these, the first argument only. */
const FIRST = { runtime };
/** They write a file, take what the runtime has made, or belong to a part that has no errors of its own. */
const LEFT = ['saveKeyFile', 'encodeBase64Url', 'ErrorValue', 'TimeDate', 'answerRequest', 'toPublicResult'];
const VALUES = [undefined, null, 5, 'x', {}, []];

function* lists(length: number): Generator<readonly unknown[]> {
  if (length === 0) yield [];
  else for (const value of VALUES) for (const rest of lists(length - 1)) yield [value, ...rest];
}

function isFunction(value: unknown): value is (...args: never) => unknown {
  return typeof value === 'function';
}

/** What a call throws or rejects with, when that is an error of the engine. */
async function bareError(exported: (...args: never) => unknown, args: readonly unknown[]): Promise<string | null> {
  try {
    const isClass = /^class\b/.test(Function.prototype.toString.call(exported));
    const result: unknown = isClass ? Reflect.construct(exported, args) : await Reflect.apply(exported, undefined, args);
    if (result instanceof Iterator) result.next();
    return null;
  } catch (error) {
    const isBare = error instanceof Error && [TypeError, RangeError, ReferenceError].some((type) => error.constructor === type);
    return isBare ? `${exported.name}(${JSON.stringify(args).slice(1, -1)}): ${error.message}` : null;
  }
}

for (const [name, entry] of Object.entries({ ...ENTRIES, ...FIRST }))
  it(`no export of '${name}' answers a missing or wrong argument with an error of the engine`, async () => {
    const bare: string[] = [];
    const given = name in FIRST ? [[], [undefined], [null], [5]] : [[], ...lists(1), ...lists(2), ...lists(3)];
    for (const [id, exported] of Object.entries<unknown>({ ...entry })) {
      if (!isFunction(exported) || LEFT.includes(id) || exported.prototype instanceof Error) continue;
      for (const args of given) bare.push(...[await bareError(exported, args)].flatMap((each) => each ?? []));
    }
    expect(bare).toEqual([]);
  });

const clock = { now: () => 0 };
const ROWS: readonly (readonly [call: (none: never) => unknown, message: string])[] = [
  [(none) => new aeiou.Keyring(none), 'the options of a Keyring must be an object, got undefined'],
  [(none) => new aeiou.ReplayCache({ clock: none }), 'the clock of a ReplayCache must be an object, got undefined'],
  [(none) => new aeiou.Minter({ clock, keyring: none, ids: none }), 'the keyring of a Minter must be an object, got undefined'],
  [(none) => aeiou.formatKeys([none]), 'the keys[0] must be an object, got undefined'],
  [(none) => aeiou.rotateKeys([], { role: none, now: 1 }), "the role to rotate must be primary or fallback, got 'undefined'"],
  [
    (none) => aeiou.composeEnvelope({ userdata: none, actions: '' }),
    'the USERDATA section must be a text or a Uint8Array, got undefined',
  ],
  [(none) => aeiou.verifyToken('x', none), 'the options of verifyToken must be an object, got undefined'],
  [
    (none) =>
      aeiou.requireToken(none, { keys: new aeiou.Keyring({ clock }), sessionId: 's', turnIndex: 1, turnNonce: 'n', now: 1 }),
    'a token is a text, got undefined',
  ],
];

it('a class with the method of a clock is a clock', () => {
  expect(new aeiou.Keyring({ clock: Date }).signer('primary')).toBeNull();
});

for (const [call, message] of ROWS)
  it(message, () => {
    expect(thrownBy(() => Reflect.apply(call, undefined, []))).toMatchObject({ message });
  });
