/**
 * What the pure tools may use of the interpreter. Like all parts that only some programs need, they are a script of their own
 * (`worker/parts.ts`).
 */
export { putEntry } from './assign.ts';
export { plainSlice, TextBuilder } from './builder.ts';
export { toNumeric } from './convert.ts';
export { counted, describe, excess, shortQuote } from './describe.ts';
export { identical } from './equal.ts';
export { checkValue, entry, newList, sizeOf } from './measure.ts';
export { entryBytes, listBytes } from './memory.ts';
export { payLookup, payRound } from './meter.ts';
export { codePointOrder } from './operators.ts';
export { addQuoted, boundary, display, numberText, quote, tooDeep, toText } from './text.ts';
export { Bytes, Dict, Fault, Fuzzy, Handle, List, share, Time, typeName } from './values.ts';
export { WORK } from './work.ts';
