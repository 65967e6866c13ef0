import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../architecture/source.ts';

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
