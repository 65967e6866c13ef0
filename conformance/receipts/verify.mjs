// An independent verifier of receipts, checkpoints and logs: plain JavaScript on Node's own cryptography, without a package. It checks everything
// but the execution of programs.
//   node verify.mjs receipt FILE KEY
//   node verify.mjs log KEY FILE CHECKPOINT...
// Exits with 0 when nothing is wrong, and with 1 after a line for each fault.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const GENESIS = '0'.repeat(64);
const DER = Buffer.from('302a300506032b6570032100', 'hex');

/** RFC 8785 of what JSON.parse returns. Half a surrogate pair has no canonical form. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('half a surrogate pair');
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** Reads JSON that has one text only. */
function read(text, what, form) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${what}: not JSON`);
  }
  if (`${canonical(value)}\n` !== text) throw new Error(`${what}: not canonical`);
  const wrong = fault(value, form, what);
  if (wrong !== null) throw new Error(wrong);
  return value;
}

const text = (value) => typeof value === 'string';
const whole = (least) => (value) => Number.isSafeInteger(value) && value >= least;
const orNull = (form) => (value) => value === null || fault(value, form, '') === null;
const one =
  (...values) =>
  (value) =>
    values.includes(value);
const list = (form) => (value) => Array.isArray(value) && value.every((each) => fault(each, form, '') === null);
const map = (form) => (value) => isObject(value) && Object.values(value).every((each) => fault(each, form, '') === null);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const hash = (value) => text(value) && /^[0-9a-f]{64}$/.test(value);

/** Why a value has not the form, or null. A form is a test, or an object of forms that says all its keys. */
function fault(value, form, path) {
  if (typeof form === 'function') return form(value) ? null : `${path}: wrong`;
  if (!isObject(value)) return `${path}: no object`;
  const stray = Object.keys(value).find((key) => !Object.hasOwn(form, key));
  if (stray !== undefined) return `${path}.${stray}: unknown`;
  for (const [key, each] of Object.entries(form)) {
    const wrong = Object.hasOwn(value, key) ? fault(value[key], each, `${path}.${key}`) : `${path}.${key}: missing`;
    if (wrong !== null) return wrong;
  }
  return null;
}

const RECEIPT = {
  manifest: {
    format: one('neuroscript-receipt'),
    version: one(1),
    kid: text,
    issuedAt: Number.isFinite,
    engine: text,
    sid: text,
    status: one('open', 'done', 'aborted', 'halted'),
    reason: orNull(text),
    turns: list({
      turn: whole(1),
      decision: one('CONTINUE', 'DONE', 'ABORT', 'HALT'),
      reason: orNull(text),
      fuel: Number.isFinite,
    }),
    parts: map(text),
  },
  signature: text,
  parts: map({ salt: text, json: text }),
};
const CHECKPOINT = {
  statement: {
    format: one('neuroscript-checkpoint'),
    version: one(1),
    kid: text,
    at: Number.isFinite,
    after: hash,
    lines: whole(0),
    head: hash,
  },
  signature: text,
};

/** The public key of a key file: its name, and a function that verifies. */
export function keyOf(file) {
  const { format, kid, public: half } = JSON.parse(file);
  if (format !== 'neuroscript-receipt-key') throw new Error('key: not for receipts');
  const key = createPublicKey({ key: Buffer.concat([DER, Buffer.from(half, 'base64url')]), format: 'der', type: 'spki' });
  return {
    kid,
    verifies(purpose, content, signature) {
      const tag = Buffer.from(signature, 'base64url');
      const message = `${purpose}/1\n${canonical(content)}`;
      return tag.toString('base64url') === signature && verify(null, Buffer.from(message), key, tag);
    },
  };
}

/** Faults of a receipt, as sentences, and the names of what is withheld. */
export function checkReceipt(file, key) {
  let receipt;
  try {
    receipt = read(file, 'receipt', RECEIPT);
  } catch (error) {
    return { faults: [error.message], withheld: [] };
  }
  const { manifest, signature, parts } = receipt;
  const faults = [];
  if (manifest.kid !== key.kid) faults.push('signed by another key');
  if (!key.verifies('neuroscript-receipt', manifest, signature)) faults.push('signature: wrong');
  for (const [name, { salt, json }] of Object.entries(parts)) {
    const digest = createHash('sha256').update(`${name}\n${salt}\n${json}`).digest('base64url');
    if (!Object.hasOwn(manifest.parts, name)) faults.push(`part ${name}: added`);
    else if (manifest.parts[name] !== digest) faults.push(`part ${name}: changed`);
  }
  faults.push(...claims(manifest, parts), ...order(manifest));
  return { faults, withheld: Object.keys(manifest.parts).filter((name) => !Object.hasOwn(parts, name)) };
}

/** What the manifest says of turns, beside what their parts say. */
function claims({ turns, sid }, parts) {
  const faults = [];
  for (const { turn, decision, reason, fuel } of turns) {
    const said = { turn, decision, reason, sid };
    for (const [field, value] of Object.entries(said)) {
      const part = parts[`${turn}.${field}`];
      if (part !== undefined && part.json !== JSON.stringify(value)) faults.push(`turn ${turn}: another ${field}`);
    }
    const usage = parts[`${turn}.usage`];
    if (usage !== undefined && fuelOf(usage) !== fuel) faults.push(`turn ${turn}: another fuel`);
  }
  return faults;
}

function fuelOf({ json }) {
  try {
    return JSON.parse(json)?.fuel;
  } catch {
    return null;
  }
}

/** Turns from 1 without gaps, and no part of any other. */
function order({ turns, parts }) {
  const faults = turns.flatMap(({ turn }, index) => (turn === index + 1 ? [] : [`turn ${index + 1}: not in its place`]));
  const known = new Set(['session', ...turns.map(({ turn }) => String(turn))]);
  for (const name of Object.keys(parts)) if (!known.has(name.split('.')[0])) faults.push(`part ${name}: of no turn`);
  return faults;
}

/** The first fault of a log beside checkpoints that others kept, or null. */
export function checkLog(log, checkpoints, key) {
  const due = [];
  for (const file of checkpoints) {
    let checkpoint;
    try {
      checkpoint = read(file, 'checkpoint', CHECKPOINT);
    } catch (error) {
      return error.message;
    }
    const { statement, signature } = checkpoint;
    if (statement.kid !== key.kid) return 'checkpoint: signed by another key';
    if (!key.verifies('neuroscript-checkpoint', statement, signature)) return 'checkpoint: signature wrong';
    if (statement.after !== GENESIS) return 'checkpoint: of a later part of the log';
    due.push(statement);
  }
  if (log !== '' && !log.endsWith('\n')) return 'log: not written to its end';
  const lines = log.split('\n').slice(0, -1);
  const heads = [GENESIS];
  for (const [index, line] of lines.entries()) {
    const wrong = checkLine(line, heads[index]);
    if (typeof wrong === 'string') return `line ${index + 1}: ${wrong}`;
    heads.push(wrong.hash);
  }
  for (const { lines: count, head } of due) {
    if (heads[count] === undefined) return `the checkpoint saw ${count} lines: cut off`;
    if (heads[count] !== head) return `line ${count}: the checkpoint saw another`;
  }
  return null;
}

/** Why a line does not follow, or its parsed form. */
function checkLine(line, before) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  if (!isObject(value) || !hash(value.prev) || !hash(value.hash)) return 'no line of a log';
  if (JSON.stringify(value) !== line) return 'not written as logs are';
  const { hash: own, ...rest } = value;
  if (createHash('sha256').update(canonical(rest)).digest('hex') !== own) return 'changed';
  return value.prev === before ? value : 'does not follow';
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [kind, first = '', second = '', ...rest] = process.argv.slice(2);
  const file = (path) => readFileSync(path, 'utf8');
  if (kind !== 'receipt' && kind !== 'log') {
    process.stderr.write('usage: node verify.mjs receipt FILE KEY | node verify.mjs log KEY FILE CHECKPOINT...\n');
    process.exit(2);
  }
  const { faults, withheld } =
    kind === 'receipt'
      ? checkReceipt(file(first), keyOf(file(second)))
      : { faults: [checkLog(file(second), rest.map(file), keyOf(file(first)))].filter((each) => each !== null), withheld: [] };
  for (const each of faults) process.stdout.write(`FAULT: ${each}\n`);
  for (const each of withheld) process.stdout.write(`withheld: ${each}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
