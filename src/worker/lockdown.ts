/**
 * Locks an isolate before anything untrusted enters it. Scripts cannot reach JavaScript; the lockdown is a second defence against bugs of
 * the interpreter. After it there is no clock, randomness, code from strings, shared memory or locale data, and the intrinsics that the
 * interpreter uses cannot be changed.
 */

/**
 * Runs inside the isolate from its source text, so it must not refer to anything outside of itself. It removes every global that is not
 * listed (new V8 versions bring new ones) and the function constructors behind prototypes, then freezes the rest.
 */
function lockdown(): void {
  const kept = new Set(
    (
      'Object Array String Number Boolean Symbol BigInt Map Set WeakMap WeakSet Math JSON Reflect Proxy Promise RegExp ' +
      'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError Iterator ' +
      'ArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Uint8ClampedArray ' +
      'Float16Array Float32Array Float64Array BigInt64Array BigUint64Array ' +
      'globalThis undefined NaN Infinity isNaN isFinite parseInt parseFloat ' +
      'encodeURI encodeURIComponent decodeURI decodeURIComponent'
    ).split(' '),
  );
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const functionPrototypes = [() => undefined, async () => undefined, function* () {}, async function* () {}].map(getPrototypeOf);

  for (const name of ownKeys(globalThis))
    if (typeof name !== 'string' || !kept.has(name)) Reflect.deleteProperty(globalThis, name);
  for (const prototype of functionPrototypes) defineProperty(prototype, 'constructor', { value: undefined });

  const gone: readonly (readonly [object, readonly string[]])[] = [
    [Math, ['random']],
    [Error, ['captureStackTrace', 'prepareStackTrace']],
    [Object.prototype, ['__proto__', '__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__']],
    [String.prototype, ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
    [Number.prototype, ['toLocaleString']],
    [BigInt.prototype, ['toLocaleString']],
    [Array.prototype, ['toLocaleString']],
    [getPrototypeOf(Uint8Array.prototype), ['toLocaleString']],
    [Object.prototype, ['toLocaleString']],
  ];
  // The values are set to undefined and not deleted: V8 turns a prototype that has lost a property into a dictionary, and calls its
  // methods up to a hundred times more slowly.
  for (const [owner, names] of gone) for (const name of names) defineProperty(owner, name, { value: undefined });

  // If a property of a prototype were only frozen, objects that inherit it could not assign it (`error.name = …`, or a plain object
  // with a key like `toString`). As an accessor, it defines an own property on assignment.
  const assignable = (owner: object): void => {
    for (const key of ownKeys(owner)) {
      const property = getOwnPropertyDescriptor(owner, key);
      if (property === undefined || !('value' in property) || property.configurable !== true) continue;
      const { value } = property;
      defineProperty(owner, key, {
        get: () => value,
        set(this: object, own: unknown) {
          if (this === owner) throw new TypeError('the intrinsics are frozen');
          defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: false,
      });
    }
  };
  assignable(Object.prototype);
  for (const name of kept) {
    const type: unknown = Reflect.get(globalThis, name);
    if (name.endsWith('Error') && typeof type === 'function') assignable(type.prototype);
  }

  // Breadth first over all holders of intrinsics: globals, their prototypes, and the prototypes that have no name.
  const hidden = [
    [][Symbol.iterator](),
    new Map().entries(),
    new Set().values(),
    ''[Symbol.iterator](),
    ''.matchAll(/a/g),
    (function* () {})(),
    (async function* () {})(),
  ];
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
  };
  for (const name of ownKeys(globalThis)) {
    const value: unknown = getOwnPropertyDescriptor(globalThis, name)?.value;
    if (value === globalThis) continue;
    visit(value);
    if (typeof value === 'function') visit(getOwnPropertyDescriptor(value, 'prototype')?.value);
  }
  for (const prototype of functionPrototypes) visit(prototype);
  for (const object of hidden) visit(getPrototypeOf(object));
  for (const object of seen) {
    visit(getPrototypeOf(object));
    freeze(object);
  }
  freeze(globalThis);
}

/** The text of an expression that locks the realm in which it is evaluated. */
export const LOCKDOWN = `(${lockdown})()`;
