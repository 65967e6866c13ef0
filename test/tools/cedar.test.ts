import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type ConditionRow, type ConditionScalar, decideCall, defineTool, Policy } from '../../src/tools/index.ts';
import { knownOf } from '../../src/wire/foreseen.ts';
import { SLOW } from '../groups.ts';

/** The part of Cedar's package that is used. */
interface Cedar {
  preparsePolicySet(id: string, policies: object): { readonly type: string };
  statefulIsAuthorized(call: object): { readonly type: string; readonly response?: { readonly decision: 'allow' | 'deny' } };
}
const cedar: Cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs');

const ARGUMENTS = ['to', 'amount', 'flag'] as const;
const tool = defineTool({
  name: 'tool.t.Call',
  args: ARGUMENTS.map((name) => ({ name, type: 'any', required: false }) as const),
  run: () => null,
});
const TEXTS = ['', 'a', 'ab', 'a@b.org', 'A@b.org', 'a@b.org.evil', 'a*b', '"q"', 'b\\', 'é👩'];
const PATTERNS = [...TEXTS, '*', 'a*', '*b', '*@b.org', 'a*b*g', String.raw`a\*b`, '**', '*"*'];
const VALUES = [...TEXTS, -3, 0, 1, 5, 500, true, false, null] as const;

/** Numbers that a seed repeats. */
function pickerOf(seed: number) {
  let state = seed;
  return <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const picked = from[Math.floor((state / 2 ** 32) * from.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  };
}

/** A row of conditions that Cedar can express: it has no lengths and no quantifiers, and only whole numbers. */
function rowOf(pick: ReturnType<typeof pickerOf>): ConditionRow {
  const scalar = (): ConditionScalar => pick<ConditionScalar>([...PATTERNS, 0, 5, true, null]);
  const condition = () =>
    pick([
      scalar,
      () => ({ in: [scalar(), scalar(), scalar()] }),
      () => ({ min: pick([-5, 0, 2]) }),
      () => ({ min: 1, max: pick([1, 500]) }),
    ])();
  const names = ARGUMENTS.filter(() => pick([true, false]));
  return Object.fromEntries((names.length === 0 ? ['to'] : names).map((name) => [name, condition()]));
}

/** The row as policies of Cedar, one for each choice among listed values: an operand of a wrong type makes its whole policy fail. */
function policiesOf(row: ConditionRow): string[] {
  const choices = Object.entries(row).map(([name, condition]): string[] => {
    if (typeof condition !== 'object' || condition === null) return [equal(name, condition)];
    const { in: values, min, max } = condition;
    if (values !== undefined) return values.map((value) => equal(name, value));
    const bounds = [min === undefined ? [] : `context.${name} >= ${min}`, max === undefined ? [] : `context.${name} <= ${max}`];
    return [[`context has ${name}`, ...bounds.flat()].join(' && ')];
  });
  const all = choices.reduce<string[]>(
    (rows, each) => rows.flatMap((one) => each.map((other) => `${one} && (${other})`)),
    ['true'],
  );
  return all.map((when) => `permit (principal, action, resource) when { ${when} };`);
}

function equal(name: string, value: ConditionScalar): string {
  if (value === null) return `!(context has ${name})`;
  if (typeof value !== 'string') return `context has ${name} && context.${name} == ${value}`;
  const pieces = value.replaceAll('\\*', '\0').split('*');
  const text = pieces.map((piece) => piece.replace(/[\\"]/g, '\\$&').replaceAll('\0', '\\*')).join('*');
  return `context has ${name} && context.${name} like "${text}"`;
}

/** The calls on which both disagree, and how many were allowed. */
function compared(policies: number, calls: number) {
  const pick = pickerOf(46);
  const entity = { type: 'T', id: 'x' };
  const wrong: unknown[] = [];
  let allowed = 0;
  for (let index = 0; index < policies; index++) {
    const rows = Array.from({ length: pick([1, 2, 3]) }, () => rowOf(pick));
    const policy = new Policy({ when: { 'tool.t.Call': rows } });
    const staticPolicies = rows.flatMap(policiesOf).join('\n');
    expect(cedar.preparsePolicySet('own', { staticPolicies })).toMatchObject({ type: 'success' });
    for (let call = 0; call < calls; call++) {
      const args = ARGUMENTS.map(() => pick<string | number | boolean | null>(VALUES));
      const known = ARGUMENTS.flatMap((name, at) => (args[at] === null ? [] : [[name, args[at]] as const]));
      const question = {
        tool,
        args: args.map(knownOf),
        before: { called: () => false as const },
        labels: null,
        isTool: () => true,
      };
      const own = decideCall(policy, question).length === 0;
      const { response } = cedar.statefulIsAuthorized({
        principal: entity,
        action: entity,
        resource: entity,
        context: Object.fromEntries(known),
        preparsedPolicySetId: 'own',
        validateRequest: false,
        entities: [],
      });
      allowed += Number(own);
      if (response?.decision !== (own ? 'allow' : 'deny')) wrong.push({ rows, args, own, cedar: response });
    }
  }
  return { wrong, allowed };
}

describe('issue 46: conditions on arguments say what the same policies of Cedar say', () => {
  it('on 1,000 generated calls', () => {
    const { wrong, allowed } = compared(100, 10);
    expect(wrong).toEqual([]);
    expect([allowed > 150, allowed < 850]).toEqual([true, true]);
  });

  it('on 10,000 generated calls', SLOW, () => {
    expect(compared(1000, 10).wrong).toEqual([]);
  });
});
