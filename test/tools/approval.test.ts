import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toolDigest } from '../../src/tools/digest.ts';
import {
  Approval,
  defineTool,
  type Gate,
  loadMockTools,
  type ToolInit,
  toolCatalogue,
  toolMarkdown,
} from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { ROOT } from '../architecture/source.ts';

const run = (): number => 1;
const tool = (requiresApproval?: boolean) => defineTool({ name: 'tool.a.B', run, requiresApproval });

/** Checks the public JSON of that name. */
function schemaOf(name: string) {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, `docs/schemas/${file}.schema.json`), 'utf8'));
  return new Ajv2020({ strict: false }).addSchema(read('value')).compile(read(name));
}

describe('the mark requiresApproval', () => {
  it('is part of what a tool promises, and only then', () => {
    expect([tool().requiresApproval, tool(false).requiresApproval, tool(true).requiresApproval]).toEqual([false, false, true]);
    expect(toolDigest(tool(false))).toBe(toolDigest(tool()));
    expect(toolDigest(tool(true))).not.toBe(toolDigest(tool()));
  });

  it('is true or false, and nothing that looks like it', () => {
    for (const requiresApproval of ['no', 0, null]) {
      // What plain JavaScript can pass.
      const init = { name: 'tool.a.B', run, requiresApproval } as unknown as ToolInit<readonly []>;
      expect(() => defineTool(init)).toThrow(ConfigError);
    }
  });

  it('a tools file can set it, and the catalogue shows it', () => {
    const text =
      'tools:\n  tool.a.B: { requiresApproval: true, cases: [{ returns: 1 }] }\n  tool.a.C: { cases: [{ returns: 1 }] }\n';
    const tools = loadMockTools(text, 'tools.yaml');
    expect(tools.map(({ requiresApproval }) => requiresApproval)).toEqual([true, false]);
    const fits = schemaOf('tools');
    expect([fits(parse(text)), fits.errors]).toEqual([true, null]);
    const catalogue = toolCatalogue(tools);
    const validate = schemaOf('catalogue');
    expect([validate(catalogue), validate.errors]).toEqual([true, null]);
    expect(catalogue.map(({ requiresApproval }) => requiresApproval)).toEqual([true, undefined]);
    expect(toolMarkdown(tools).match(/a human has to approve every call/g)).toHaveLength(1);
  });
});

describe('an approval', () => {
  const plan = { tool: 'tool.a.b', args: [] };
  const hashOf = (of: object): string => JSON.stringify(of);
  const gateOf =
    (log: string[]): Gate =>
    async (work) => {
      log.push('asked');
      return { state: 'executed', value: await work() };
    };

  it('ARGO-2-3: of calls at the same time one reaches the gate', async () => {
    const log: string[] = [];
    const approval = new Approval({ hash: hashOf(plan), hashOf, gate: gateOf(log) });
    const outcomes = await Promise.all([1, 2, 3].map((number) => approval.spend(plan, async () => number)));
    expect(outcomes.map(({ state }) => state)).toEqual(['executed', 'denied', 'denied']);
    expect(log).toEqual(['asked']);
  });

  it('a plan that was not approved leaves it as it was; one without a hash is denied', async () => {
    const log: string[] = [];
    const gate = gateOf(log);
    const approval = new Approval({ hash: hashOf(plan), hashOf, gate });
    expect(await approval.spend({ ...plan, args: [1] }, async () => 1)).toMatchObject({ state: 'denied' });
    const endless: Record<string, unknown> = {};
    endless['itself'] = endless;
    expect(await approval.spend(endless, async () => 1)).toMatchObject({
      state: 'denied',
      verdict: { line: expect.stringMatching(/^\[ERROR\] The plan has no hash: /) },
    });
    expect(log).toEqual([]);
    expect(await approval.spend(plan, async () => 2)).toEqual({ state: 'executed', value: 2 });
  });

  it('ARGO-3-7: a gate that throws is no yes, and the approval is used up', async () => {
    const gate: Gate = () => Promise.reject(new Error('the gate broke'));
    const approval = new Approval({ hash: hashOf(plan), hashOf, gate });
    let ran = false;
    const work = async (): Promise<void> => {
      ran = true;
    };
    await expect(approval.spend(plan, work)).rejects.toThrow('the gate broke');
    expect(await approval.spend(plan, work)).toMatchObject({ state: 'denied' });
    expect(ran).toBe(false);
  });
});
