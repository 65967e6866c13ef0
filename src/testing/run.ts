import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { canonicalName } from '../tools/index.ts';
import { encode } from '../wire/codec.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry } from '../wire/journal.ts';
import { plainMaps } from '../wire/maporder.ts';
import { anything, checker, checkText, listOf, required, wholeNumber } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { journalText } from './journal.ts';

/** A call that is expected: a tool's name, or what of the call matters. Values are JavaScript's. */
export type ExpectedCall =
  | string
  | {
      readonly tool: string;
      readonly args?: readonly unknown[];
      readonly returns?: unknown;
      /** The code that the tool failed with. */
      readonly fails?: number;
    };

const checkExpectedCall = checker<Exclude<ExpectedCall, string>>({
  tool: required(checkText),
  args: listOf(anything),
  returns: anything,
  fails: wholeNumber(0),
});

const checkFuelBound = checker<{ readonly atMost: number }>({ atMost: required(wholeNumber(0)) });

type ToolEntry = Extract<JournalEntry, { readonly kind: 'tool' }>;

/** Set to write snapshots again instead of comparing. */
const UPDATE = 'NEUROSCRIPT_UPDATE_SNAPSHOTS';

/**
 * What a script did, and what can be expected of it. Every expectation throws `AssertionError` (of `node:assert`, which
 * every test runner shows with its difference) when it is not met, and gives the same object again.
 */
export class ScriptRun {
  /** The whole result. */
  readonly result: RunResult;

  /** Made by `runScript` and `ScriptBench.run`. */
  constructor(result: RunResult) {
    this.result = result;
  }

  /** One text per `emit`. */
  get emits(): readonly string[] {
    return this.result.emits;
  }
  /** One value per `emit`, as tagged JSON. */
  get values(): readonly TaggedJson[] {
    return this.result.values;
  }
  /** The calls of tools that the script made, in order. */
  get calls(): readonly ToolEntry[] {
    return this.result.journal.filter((entry) => entry.kind === 'tool');
  }
  /** What it used: the same on every machine. */
  get fuel(): number {
    return this.result.usage.fuel;
  }
  get error(): ErrorInfo | null {
    return this.result.error;
  }

  /** It came to its end. */
  expectOk(): this {
    const { error } = this.result;
    if (error !== null) {
      const place = error.source === null ? '' : ` at ${error.source}:${error.line}:${error.column}`;
      assert.fail(`the script failed${place}: ${error.code}: ${error.message}`);
    }
    return this;
  }

  /** It failed with this code, `NS9` or `ERR_QUOTA` or a number of the language's, and a message that fits. */
  expectError(code: string | number, message?: string | RegExp): this {
    const { error } = this.result;
    assert.equal(error?.code ?? 'no error', typeof code === 'number' ? `NS${code}` : code, this.#said());
    if (typeof message === 'string') assert.equal(error?.message, message);
    if (message instanceof RegExp) assert.match(error?.message ?? '', message);
    return this;
  }

  /** It emitted exactly these texts, and came to its end. */
  expectEmits(...texts: readonly string[]): this {
    // What stopped it says more than what is missing.
    this.expectOk();
    assert.deepEqual([...this.emits], texts);
    return this;
  }

  /** It emitted exactly these values. */
  expectValues(...values: readonly unknown[]): this {
    assert.deepEqual(plain(this.values), plain(values.map((value) => encode(value))));
    return this;
  }

  /** `call` returned this value. */
  expectResult(value: unknown): this {
    this.expectOk();
    assert.deepEqual(plain(this.result.result), plain(encode(value)));
    return this;
  }

  /** It made exactly these calls, in this order. */
  expectCalls(...calls: readonly ExpectedCall[]): this {
    // A misspelt key would expect nothing.
    for (const call of calls) if (typeof call !== 'string') checkExpectedCall('an expected call', call);
    const names = calls.map((call) => canonicalName(typeof call === 'string' ? call : call.tool));
    assert.deepEqual(
      this.calls.map(({ name }) => name),
      names,
    );
    for (const [index, expected] of calls.entries()) {
      const call = this.calls[index];
      if (typeof expected === 'string' || call === undefined) continue;
      const { outcome } = call;
      const which = `call ${index + 1}, ${call.name}`;
      if (expected.args !== undefined)
        assert.deepEqual(plain(call.args), plain(expected.args.map((arg) => encode(arg))), `arguments of ${which}`);
      if (Object.hasOwn(expected, 'returns'))
        assert.deepEqual(plain(outcome.ok ? outcome.value : outcome), plain(encode(expected.returns)), `result of ${which}`);
      if (expected.fails !== undefined)
        assert.equal(outcome.ok || !('code' in outcome) ? 'no code' : outcome.code, expected.fails, `failure of ${which}`);
    }
    return this;
  }

  /** It used so much fuel, or no more than that. Fuel follows the published prices: a new release may change them. */
  expectFuel(fuel: number | { readonly atMost: number }): this {
    if (typeof fuel === 'number') {
      assert.equal(this.fuel, fuel);
      return this;
    }
    checkFuelBound('what is expected of the fuel', fuel);
    assert.ok(this.fuel <= fuel.atMost, `the script used ${this.fuel} fuel, expected at most ${fuel.atMost}`);
    return this;
  }

  /** The journal as a text without what varies, for the snapshots of your test runner. */
  journal(): string {
    return journalText(this.result.journal);
  }

  /**
   * The journal is what this file has. A file that is not there yet is written, but not where `CI` is set: there it fails.
   * With `NEUROSCRIPT_UPDATE_SNAPSHOTS` set it is written again.
   */
  expectJournal(file: string | URL): this {
    const text = this.journal();
    const update = (process.env[UPDATE] ?? '') !== '';
    if (update || (!existsSync(file) && (process.env['CI'] ?? '') === '')) writeFileSync(file, text);
    else
      assert.equal(text, existsSync(file) ? readFileSync(file, 'utf8') : '(there is no snapshot)', `journal of ${String(file)}`);
    return this;
  }

  #said(): string {
    const { error } = this.result;
    return error === null ? `no error; emitted ${JSON.stringify(this.emits)}` : `${error.code}: ${error.message}`;
  }
}

/** The same JSON without what only JavaScript sees, such as maps without a prototype, and without the order of keys. */
function plain(json: unknown): unknown {
  return plainMaps(JSON.parse(JSON.stringify(json)));
}
