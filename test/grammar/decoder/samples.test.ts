import { describe, expect, it } from 'vitest';
import { decoderRules } from '../../../grammar/decoder/index.ts';
import { analyse, type Expr, parse, type SourceFile } from '../../../grammar/index.ts';
import { bodiesOf, eachExpression, eachStatement, expressionsOf } from '../../../grammar/syntax/walk.ts';
import { extractEnvelope } from '../../../src/aeiou/index.ts';
import { decoderTools } from '../../../src/tools/catalogue/grammar.ts';
import { checkArguments } from '../../../src/tools/index.ts';
import type { TaggedJson } from '../../../src/wire/protocol.ts';
import { Random } from '../../fuzz/random.ts';
import { Sampler } from './sampler.ts';
import { ALLOWED } from './view.ts';

/** How many samples of each grammar; `npm run prove` draws 100,000. */
const SAMPLES = Number(process.env['GRAMMAR_SAMPLES'] ?? 300);

const shapes = ALLOWED.map(({ canonicalName, parameters }) => ({
  name: canonicalName,
  least: parameters.findLastIndex(({ required }) => required) + 1,
  most: parameters.length,
}));
const MAGIC = { name: 'tool.aeiou.magic', least: 2, most: 3 };

/** What a sample must not have: syntax errors, and findings of the check about tools. */
function problemsOf(text: string): { readonly file: SourceFile | null; readonly problems: readonly string[] } {
  const parsed = parse(text, { name: 'sample.ns' });
  if (!parsed.ok) return { file: null, problems: parsed.errors.map(({ line, message }) => `${line}: ${message}`) };
  const findings = analyse([parsed], { tools: [...shapes, MAGIC], complete: true });
  const about = findings.filter(
    ({ code, message }) => code === 'LINT_UNKNOWN_TOOL' || (code === 'LINT_ARGUMENT_COUNT' && message.includes('tool')),
  );
  return { file: parsed.file, problems: about.map(({ line, message }) => `${line}: ${message}`) };
}

function callsIn(file: SourceFile): readonly Extract<Expr, { k: 'tool' }>[] {
  const calls: Extract<Expr, { k: 'tool' }>[] = [];
  for (const body of bodiesOf(file))
    eachStatement(body, (stmt) => {
      for (const expr of expressionsOf(stmt)) eachExpression(expr, (part) => part.k === 'tool' && calls.push(part));
    });
  return calls;
}

/** The value of a literal; undefined for anything else. */
function literal(expr: Expr): TaggedJson | undefined {
  if (expr.k === 'num' || expr.k === 'str' || expr.k === 'bool') return expr.v;
  if (expr.k === 'template' && expr.parts.every((part) => typeof part === 'string')) return expr.parts.join('');
  if (expr.k === 'nil') return null;
  if (expr.k === 'unary' && expr.op === '-' && expr.of.k === 'num') return -expr.of.v;
  if (expr.k === 'map' && expr.entries.length === 0) return {};
  if (expr.k !== 'list') return undefined;
  const items = expr.items.map(literal);
  return items.every((item) => item !== undefined) ? items : undefined;
}

describe('samples of a grammar', () => {
  it.each([
    ['file', false],
    ['file', true],
    ['turn', false],
    ['turn', true],
  ] as const)(
    'are programs that call only tools of the view, as these take it: %s, small: %s',
    async (whole, small) => {
      const sampler = new Sampler(decoderRules({ tools: decoderTools(ALLOWED), whole, small }), new Random(22));
      const seen = new Set<string>();
      let literals = 0;
      // A whole file is in one of two dialects of strings.
      const dialects = whole === 'file' && !small ? 2 : 1;
      for (let i = 0; i < SAMPLES * dialects; i++) {
        const text = sampler.draw();
        const program = whole === 'turn' ? extractEnvelope(text).actions : text;
        const { file, problems } = problemsOf(program);
        expect(problems, program).toEqual([]);
        for (const call of file === null ? [] : callsIn(file)) {
          seen.add(call.name);
          const tool = ALLOWED.find(({ canonicalName }) => canonicalName === call.name);
          const args = call.args.map(literal);
          if (tool === undefined || !args.every((value) => value !== undefined)) continue;
          literals++;
          await expect(checkArguments(tool, args), program).resolves.toBeDefined();
        }
      }
      const names = ALLOWED.map(({ canonicalName }) => canonicalName);
      expect([...seen].sort()).toEqual([...names, ...(whole === 'turn' ? [MAGIC.name] : [])].sort());
      expect(literals).toBeGreaterThan(SAMPLES / 50);
    },
    600_000,
  );
});
