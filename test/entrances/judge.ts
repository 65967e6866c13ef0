import { inspect, isDeepStrictEqual } from 'node:util';
import { canonicalize } from '../../src/aeiou/json/canonical.ts';
import type { Probe, Stage } from './probes.ts';
import { REFUSED, WRONG } from './wrong.ts';

const CODE = /^(?:ERR_[A-Z_]+|NS\d+)$/;

/** What happened to a value: what came out, or that it was refused with a stable code, at this place. */
export async function outcome(send: (value: unknown) => unknown, value: unknown, place = /./): Promise<unknown> {
  try {
    return await send(value);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    const told = typeof code === 'string' && CODE.test(code) && place.test(message);
    return told ? REFUSED : `raw or without its place: ${String(code)} ${message.slice(0, 200)}`;
  }
}

export const isRaw = (found: unknown): boolean => typeof found === 'string' && found.startsWith('raw or without its place');

/** Sends a value, and notes when something else becomes of it. */
type Judge = (name: string, value: unknown, wanted: unknown, place?: RegExp) => Promise<void>;

async function judgeEach({ reader }: Probe, judge: Judge): Promise<void> {
  for (const { name, make, becomes } of WRONG) {
    const kept = becomes[reader];
    await judge(name, make(), kept);
    await judge(`${name}, within`, { list: [0, make()] }, kept === REFUSED ? REFUSED : { list: [0, kept] }, /list\[1\]/);
  }
}

/** Where each value takes a session, the values that are kept go together. */
async function judgeTogether({ reader }: Probe, judge: Judge): Promise<void> {
  const kept = WRONG.filter(({ becomes }) => becomes[reader] !== REFUSED);
  await judge(
    'all that are kept',
    { list: kept.map(({ make }) => make()) },
    { list: kept.map(({ becomes }) => becomes[reader]) },
  );
  for (const { name, make, becomes } of WRONG)
    if (becomes[reader] === REFUSED) await judge(`${name}, within`, { list: [0, make()] }, REFUSED, /list\[1\]/);
}

/** Sends each value of {@link WRONG} through an entrance. Returns what became something else than it must. */
export async function misjudged(probe: Probe, stage: Stage, together: boolean): Promise<readonly string[]> {
  const wrong: string[] = [];
  const compared = probe.reader === 'canonical' ? inOrder : plain;
  const judge: Judge = async (name, value, wanted, at) => {
    const found = await outcome((each) => probe.send(each, stage), value, at);
    if (!isDeepStrictEqual(compared(found), compared(wanted))) wrong.push(`${name}: ${shown(found)}, not ${shown(wanted)}`);
  };
  await (together ? judgeTogether(probe, judge) : judgeEach(probe, judge));
  return wrong;
}

/** A value without its prototypes, so that only its data are compared. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || ![null, Object.prototype].includes(Object.getPrototypeOf(value)))
    return value;
  return Object.entries(value).map(([key, item]) => [key, plain(item)]);
}

/** As {@link plain}, with keys in the order of canonical JSON. */
const inOrder = (value: unknown): unknown => (typeof value === 'object' ? JSON.parse(canonicalize(value, 'doubles')) : value);

const shown = (value: unknown): string => inspect(value, { breakLength: Number.POSITIVE_INFINITY }).slice(0, 150);
