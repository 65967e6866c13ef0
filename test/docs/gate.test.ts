import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from '../architecture/source.ts';

const page = readFileSync(join(ROOT, 'docs/gate.md'), 'utf8');
const source = filesBelow('src/gate', '.ts')
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');

describe('docs/gate.md', () => {
  const rows = [...page.matchAll(/^\| `\[(?:OK|ERROR)\] .*\| [01] +\|$/gm)].map(([row]) => row);

  it('shows the lines that the gate prints, and no others', () => {
    const shown = rows.flatMap((row) =>
      [...(row.split(/ +\| /)[0] ?? '').matchAll(/`(?:\[(?:OK|ERROR)\] )?([^`]+)`/g)].map(([, text]) => text),
    );
    expect(shown.length).toBe(13);
    for (const text of shown) expect(source).toContain(text?.replace(/ …| at TIME|N\)$/, '') ?? '');
  });

  it('names every code of the gate, each with its page', () => {
    const codes = new Set(source.match(/ERR_GATE_[A-Z_]+/g));
    const pages = new Set(filesBelow('docs/errors', '.md').flatMap((path) => path.match(/ERR_GATE_[A-Z_]+/g) ?? []));
    expect(pages).toEqual(codes);
    const verdicts = /export type GateCode =([^;]*);/.exec(source)?.[1]?.match(/ERR_GATE_[A-Z_]+/g) ?? [];
    expect(verdicts.length).toBe(6);
    for (const code of verdicts) expect(rows.join('\n')).toContain(code);
  });
});
