import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../architecture/source.ts';

/** Faults by the names that docs/operations.md gives them. */
export const DEAD = 'a host is dead, or stopped';
export const CUT = 'the store is down or cut off';
export const ENDED = 'connections to the store are ended';
export const LATE = 'a host was stopped or cut off for longer than a lease';
export const UNKNOWN_KEY = 'a host does not know a key, or tokens are forged';
export const KILLED_WORKERS = 'workers are killed';
export const POISON = 'a program ends every process that runs it';
export const AWAY = 'the model fails';
export const ANY = [DEAD, CUT, ENDED, LATE, UNKNOWN_KEY, KILLED_WORKERS, POISON, AWAY];

/** What metrics say of each fault, as the table of `docs/operations.md` has it: the first expression of its row. */
export const FAULTS: ReadonlyMap<string, string> = new Map(
  readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
    .split('\n## ')
    .filter((part) => part.startsWith('Alerts'))
    .flatMap((part) => [...part.matchAll(/^\| ([^|]*?) +\| `([^`]+)`/gm)])
    .map(([, fault = '', expression = '']) => [fault, expression]),
);

const EXPRESSION = /^(?:increase\()?(\w+)(?:\{([^}]*)\})?(?:\[\w+\]\))? (==|>) (\d+)$/;

/** Whether an expression holds for a series of a scrape. Counters began at 0 with their process, so one that has grown is more than 0. */
export function holds(expression: string, scraped: string): boolean {
  const [, name, labels = '', comparison, bound] = EXPRESSION.exec(expression) ?? [];
  if (name === undefined) throw new Error(`no test can read the expression ${expression}`);
  return scraped.split('\n').some((line) => {
    const [series = '', value] = line.split(' ');
    const [own, rest = ''] = series.split('{');
    if (own !== name || !rest.includes(labels)) return false;
    return comparison === '==' ? Number(value) === Number(bound) : Number(value) > Number(bound);
  });
}
