import type { ForeseenType, ForeseenValue } from '../../grammar/index.ts';
import { ConfigError } from './errors.ts';
import { otherVersion, STORED_VERSION } from './forms.ts';
import type { LimitKey } from './limits.ts';
import { anything, checker, checkFlag, checkObject, checkText, listOf, oneOf, required, wholeNumber } from './options.ts';
import type { ForeseenCall } from './sourcereports.ts';

/** What a policy says of a call before it is made. Call limits count when it is made. */
export interface PreviewVerdict {
  readonly allowed: boolean;
  /** Why, and which rule of the policy decides; null where there is no such tool. */
  readonly reason: string;
  readonly rule: string | null;
  /** Whether a human must approve each call. */
  readonly approval: boolean;
}

/** Calls that a program can make at one place. */
export interface PreviewCall extends ForeseenCall {
  /** From 1. */
  readonly number: number;
  /** What the tool does outside of the program; null for an unknown tool, `ask` and `promptuser`. */
  readonly effects: 'none' | 'read' | 'write' | null;
  /** Null for `ask` and `promptuser`, which no policy judges. */
  readonly verdict: PreviewVerdict | null;
  /** The limit that bounds the calls, where the program sets no lower bound; null otherwise. */
  readonly limitedBy: LimitKey | null;
}

/** The most that a run takes. */
export interface PreviewBound {
  readonly most: number;
  /** `program`: the program cannot take more. `limit`: the limit of the run stops it there. */
  readonly by: 'program' | 'limit';
}

/** What a program can do, before it runs. */
export interface Preview {
  readonly version: 1;
  /** The sources, each with the SHA-256 of its text, in hexadecimal. */
  readonly sources: readonly { readonly name: string; readonly sha256: string }[];
  /** Every call that the program can make of the host. Tools without effects that run inside the isolate are not calls of the host. */
  readonly calls: readonly PreviewCall[];
  readonly fuel: PreviewBound;
  readonly memoryBytes: PreviewBound;
  readonly outputBytes: PreviewBound;
  readonly scratchBytes: PreviewBound;
  readonly toolCalls: PreviewBound;
  /** Why the program sets no bound of its fuel, and at which place; null when it sets one. */
  readonly because: { readonly message: string; readonly file: string; readonly line: number; readonly column: number } | null;
}

const TYPES: readonly ForeseenType[] = ['nil', 'boolean', 'number', 'string', 'list', 'map', 'other'];

const checkNumber = (what: string, value: unknown): void => {
  if (typeof value !== 'number') throw new ConfigError(`${what} must be a number`);
};

const checkScalar = (what: string, value: unknown): void => {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return;
  checker<{ readonly $num: string }>({ $num: required(checkText) })(what, value);
};

const checkEntry = (what: string, value: unknown): void => {
  if (!Array.isArray(value) || value.length !== 2) throw new ConfigError(`${what} must be a list of a key and a value`);
  checkText(what, value[0]);
  checkValue(what, value[1]);
};

const checkValues = (what: string, value: unknown): void => listOf(checkValue)(what, value);

const checkValue = (what: string, value: unknown): void => checkFields(what, value);

const checkFields = checker<ForeseenValue>({
  value: checkScalar,
  oneOf: listOf(checkScalar),
  types: listOf(oneOf(...TYPES)),
  least: checkNumber,
  most: checkNumber,
  prefix: checkText,
  items: checkValues,
  each: checkValue,
  entries: listOf(checkEntry),
  from: listOf(wholeNumber(1)),
});

const orNull =
  (check: (what: string, value: unknown) => void) =>
  (what: string, value: unknown): void => {
    if (value !== null) check(what, value);
  };

const checkCalls = listOf(
  checker<PreviewCall>({
    number: required(wholeNumber(1)),
    name: required(checkText),
    file: required(checkText),
    line: required(wholeNumber(0)),
    column: required(wholeNumber(0)),
    elsewhere: required(checkFlag),
    args: required(orNull(checkValues)),
    most: required(orNull(wholeNumber(0))),
    limitedBy: required(anything),
    when: required(listOf(checkObject)),
    effects: required(anything),
    verdict: required(anything),
  }),
);

/** Throws {@link ConfigError} for anything but a preview, in which the calls decide. */
export function checkPreview(what: string, value: unknown): asserts value is Preview {
  checkObject(what, value);
  const version: unknown = Reflect.get(value, 'version');
  if (version !== STORED_VERSION) throw new ConfigError(otherVersion(what, version));
  checkCalls(`${what}: calls`, Reflect.get(value, 'calls'));
}
