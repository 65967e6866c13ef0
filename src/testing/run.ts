import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { canonicalName } from '../tools/index.ts';
import { encode } from '../wire/codec.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry } from '../wire/journal.ts';
import { anything, checker, checkText, listOf, required, wholeNumber } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { plainMaps } from '../wire/tagged.ts';
import { journalText } from './journal.ts';

/** An expected call: a tool's name, or the parts of the call to check. Values are JavaScript values. */
export type ExpectedCall =
  | string
  | {
      /** Name of the tool, in any letter case. */
      readonly tool: string;
      /** The arguments; not checked when absent. */
      readonly args?: readonly unknown[];
      /** The result; not checked when absent. */
      readonly returns?: unknown;
      /** The error code of a failed call. */
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

/** If set, snapshots are rewritten instead of compared. */
const UPDATE = 'NEUROSCRIPT_UPDATE_SNAPSHOTS';

/**
 * The result of a script, with expectations. An expectation that is not met throws `AssertionError` of `node:assert`, which
 * every test runner shows with the difference. Expectations return the object itself, so they can be chained.
 */
export class ScriptRun {
  /** The whole result. */
  readonly result: RunResult;

  /** Made by `runScript` and `ScriptBench.run`. */
  constructor(result: RunResult) {
    this.result = result;
  }

  /** One string per `emit`. */
  get emits(): readonly string[] {
    return this.result.emits;
  }
  /** One value per `emit`, as tagged JSON. */
  get values(): readonly TaggedJson[] {
    return this.result.values;
  }
  /** The tool calls of the script, in order. */
  get calls(): readonly ToolEntry[] {
    return this.result.journal.filter((entry) => entry.kind === 'tool');
  }
  /** The fuel that the script used; it is the same on every machine. */
  get fuel(): number {
    return this.result.usage.fuel;
  }
  /** Why the script failed; null when it did not. */
  get error(): ErrorInfo | null {
    return this.result.error;
  }

  /** Expects that the script succeeded. */
  expectOk(): this {
    const { error } = this.result;
    if (error !== null) {
      const place = error.source === null ? '' : ` at ${error.source}:${error.line}:${error.column}`;
      assert.fail(`the script failed${place}: ${error.code}: ${error.message}`);
    }
    return this;
  }

  /** Expects a failure with this code (`NS9`, `ERR_QUOTA`, or a number of the language) and a message that matches. */
  expectError(code: string | number, message?: string | RegExp): this {
    const { error } = this.result;
    assert.equal(error?.code ?? 'no error', typeof code === 'number' ? `NS${code}` : code, this.#said());
    if (typeof message === 'string') assert.equal(error?.message, message);
    if (message instanceof RegExp) assert.match(error?.message ?? '', message);
    return this;
  }

  /** Expects success and exactly these emitted strings. */
  expectEmits(...texts: readonly string[]): this {
    // Checks for an error first, because it says more than the missing output.
    this.expectOk();
    assert.deepEqual([...this.emits], texts);
    return this;
  }

  /** Expects exactly these emitted values. */
  expectValues(...values: readonly unknown[]): this {
    assert.deepEqual(plain(this.values), plain(values.map((value) => encode(value))));
    return this;
  }

  /** Expects success and this result of the called procedure. */
  expectResult(value: unknown): this {
    this.expectOk();
    assert.deepEqual(plain(this.result.result), plain(encode(value)));
    return this;
  }

  /** Expects exactly these tool calls, in this order. */
  expectCalls(...calls: readonly ExpectedCall[]): this {
    // Refuses unknown keys, because a misspelt key would check nothing.
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

  /** Expects this amount of fuel, or at most an amount. A new release may change the prices of fuel. */
  expectFuel(fuel: number | { readonly atMost: number }): this {
    if (typeof fuel === 'number') {
      assert.equal(this.fuel, fuel);
      return this;
    }
    checkFuelBound('what is expected of the fuel', fuel);
    assert.ok(this.fuel <= fuel.atMost, `the script used ${this.fuel} fuel, expected at most ${fuel.atMost}`);
    return this;
  }

  /** The journal as {@link journalText}, for the snapshots of your test runner. */
  journal(): string {
    return journalText(this.result.journal);
  }

  /**
   * Expects the journal to equal the content of this file. A missing file is written, except if `CI` is set: then the
   * expectation fails. If `NEUROSCRIPT_UPDATE_SNAPSHOTS` is set, the file is rewritten.
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

/** The same JSON with ordinary prototypes and without the order of keys. */
function plain(json: unknown): unknown {
  return plainMaps(JSON.parse(JSON.stringify(json)));
}
