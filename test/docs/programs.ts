import type { EventInput, TaggedJson } from '../../src/wire/protocol.ts';
import { makeWorld } from '../conformance/world.ts';
import { drive } from '../guest/driver.ts';

/**
 * A block of NeuroScript on a page, between fences of three or four backticks with the language `ns`. A block that starts
 * with `func`, `command`, `on event` or `::` is a whole file; anything else is the body of a procedure. `main` is called
 * where there is one. Comments say what must happen:
 *
 *     # => text                   what the program emits, in order; several on one line are separated by ` ; `
 *     # ~> target: text           what it whispers
 *     # !! code                   this line fails, with this number, `syntax`, or an ERR_ code
 *     # global: name json         first lines of the block: what the host does
 *     # event: name json
 *
 * A block is run without the lines that fail, and then once for each of these, with that line alone of them.
 */
export interface Example {
  /** 1-based line of the opening fence on its page. */
  readonly at: number;
  readonly lines: readonly string[];
}

/** What a block promises, and what came of it; equal when the page is right. */
export interface Told {
  readonly emits: readonly string[];
  readonly whispers: readonly string[];
  /** Lines of the page, with their codes. */
  readonly errors: readonly string[];
}

/** The blocks of a page, in order. */
export function examplesOf(markdown: string): Example[] {
  return [...markdown.matchAll(/^(`{3,})ns\n([\s\S]*?)^\1$/gm)].map(({ index, 2: code = '' }) => ({
    at: markdown.slice(0, index).split('\n').length,
    lines: code.trimEnd().split('\n'),
  }));
}

const MARK = /(?:^|\s)# (=>|~>|!!) ?(.*)$/;

/** What the comments of a block say. */
export function promised({ at, lines }: Example): Told {
  const told = { emits: [] as string[], whispers: [] as string[], errors: [] as string[] };
  for (const [index, line] of lines.entries()) {
    const [, mark, text = ''] = MARK.exec(line) ?? [];
    if (mark === '=>') told.emits.push(...text.split(' ; '));
    else if (mark === '~>') told.whispers.push(text);
    else if (mark === '!!') told.errors.push(`line ${at + index + 1}: ${text}`);
  }
  return told;
}

/** What a block does. An error where none is promised is told with its message. */
export function happened({ at, lines }: Example): Told {
  const failing = [...lines.keys()].filter((index) => MARK.exec(lines[index] ?? '')?.[1] === '!!');
  const without = (kept: number | null): string[] =>
    lines.map((line, index) => (failing.includes(index) && index !== kept ? '' : line));
  const plain = execute(without(null));
  const errors = failing.map((index) => {
    const { code, line } = execute(without(index));
    return `line ${at + (line ?? index + 1)}: ${code}`;
  });
  const unexpected = plain.message === null ? [] : [`line ${at + (plain.line ?? 0)}: ${plain.code} ${plain.message}`];
  return { emits: plain.emits, whispers: plain.whispers, errors: [...unexpected, ...errors] };
}

interface Executed {
  readonly emits: readonly string[];
  readonly whispers: readonly string[];
  readonly code: string | null;
  /** In the block. */
  readonly line: number | null;
  readonly message: string | null;
}

function execute(lines: readonly string[]): Executed {
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
  const whole = /^(func|command|on event|::)/.test(first);
  const source = whole ? lines.join('\n') : `func main() means\n${lines.join('\n')}\nendfunc`;
  const given = hostLines(lines);
  const callsMain = given.events.length === 0 && /^func main\b/m.test(source);
  const driven = drive(`${source}\n`, { ...given, call: callsMain ? 'main' : null, tools: makeWorld().here });
  const { emits, error, eventErrors } = driven;
  const thrown = error ?? eventErrors[0]?.error ?? null;
  const line = thrown?.line ?? null;
  const code = thrown?.kind === 'syntax' ? 'syntax' : String(thrown?.nsCode ?? thrown?.code ?? '');
  return {
    emits,
    whispers: driven.whispers.map(({ to, text }) => `${to}: ${text}`),
    code,
    line: line === null || whole ? line : line - 1,
    message: thrown?.message ?? null,
  };
}

function hostLines(lines: readonly string[]): { globals: Record<string, TaggedJson>; events: EventInput[] } {
  const globals: Record<string, TaggedJson> = {};
  const events: EventInput[] = [];
  for (const line of lines) {
    const [, what, name = '', json = 'null'] = /^# (global|event): (\S+) (.*)$/.exec(line) ?? [];
    if (what === 'global') globals[name] = JSON.parse(json);
    if (what === 'event') events.push({ name, source: 'host', payload: JSON.parse(json) });
  }
  return { globals, events };
}
