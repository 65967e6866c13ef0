import { readFileSync } from 'node:fs';

/** A program with slips of somebody used to another language, the same program as it should be, and what that one emits. */
export interface Habit {
  /** File, number and title; unique. */
  readonly name: string;
  readonly slip: string;
  readonly right: string;
  readonly output: readonly string[];
}

/** Files for those who write hints and fixes. */
export const KNOWN = ['python', 'javascript', 'shell', 'others', 'later', 'turns'];

/** The file whose cases they do not look at. */
export const HELD_OUT = 'heldout';

/** The file whose cases were written after the fixes, without a look at them, and that no fix was written for. */
export const UNSEEN = 'unseen';

const PAIR = /⟦([^¦⟧]*)¦([^⟧]*)⟧/g;

/** The cases of a file. README.md describes the format. */
export function habitsOf(file: string): readonly Habit[] {
  const text = readFileSync(new URL(`${file}.txt`, import.meta.url), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((each, index) => habitOf(`${file} ${index + 1}`, each.split('\n')));
}

function habitOf(place: string, [title, ...lines]: readonly string[]): Habit {
  const body = lines.filter((line) => line !== '' && !line.startsWith('=> ')).join('\n');
  const right = body.replace(PAIR, '$2');
  const whole = /^(command|func)\b/m.test(right);
  const program = (text: string): string => (whole ? `${text}\n` : `command\n${text}\nendcommand\n`);
  return {
    name: `${place}: ${title}`,
    slip: program(body.replace(PAIR, '$1')),
    right: program(right),
    output: lines.filter((line) => line.startsWith('=> ')).map((line) => line.slice(3)),
  };
}
