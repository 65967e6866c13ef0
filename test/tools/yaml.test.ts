import { describe, expect, it } from 'vitest';
import { loadMockTools } from '../../src/tools/mock/file.ts';
import { YamlFile } from '../../src/tools/yaml.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { SLOW } from '../groups.ts';

/** Why a text is refused; anything else than a {@link ConfigError} is a defect. */
function refusal(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof ConfigError ? error.message : null;
  }
}

const ANSWER = '\ntools: {tool.a.B: {otherwise: {returns: 1}}}';

describe('18: a hostile YAML file', () => {
  it.each([
    ['blocks', `state:\n  a:\n    ${'- '.repeat(20_000)}1${ANSWER}`],
    ['lists', `state: {a: ${'['.repeat(20_000)}${']'.repeat(20_000)}}${ANSWER}`],
    ['maps', `tools: {tool.a.B: {otherwise: {returns: ${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}}}}`],
  ])('that nests deep in %s is refused in words', (_, text) => {
    expect(refusal(() => loadMockTools(text, 'f'))).toMatch(/^f(:\d+:\d+)?: it nests too deep to be read$/);
  });

  it('may have 100 aliases, for each of which the parser searches the whole file', SLOW, () => {
    const text = (count: number) => Array.from({ length: count }, (_, index) => `- &a${index} x\n- *a${index}\n`).join('');
    expect(refusal(() => new YamlFile(text(100), 'f'))).toBeNull();
    const begun = process.cpuUsage();
    expect(refusal(() => new YamlFile(text(10_000), 'f'))).toBe('f:202:3: the file has more than 100 aliases');
    expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
  });

  it.each([
    ['values', `[${'1,'.repeat(200_000)}1]`],
    ['lists', `[${'[[[[[]]]]],'.repeat(36_000)}]`],
    ['mistakes', `{${'}'.repeat(400_000)}`],
    ['separators', `[${','.repeat(400_000)}]`],
  ])('issue 44, finding 13: of 400 KB is refused in words when it is made of %s', (_, text) => {
    expect(refusal(() => new YamlFile(text, 'f'))).toBe('f: the file has more than 200000 words and signs');
  });

  it.each([
    ['values', `[${'1,'.repeat(99_000)}1]`],
    ['lists', `[${'[[[[[]]]]],'.repeat(18_000)}]`],
    ['mistakes', `{${'}'.repeat(199_000)}`],
    ['maps', `[${'{a: 1},'.repeat(28_000)}{}]`],
    ['directives', '%A\n'.repeat(99_000)],
  ])('issue 44, finding 13: of %s takes at most 4 times the CPU time of 400 KB of lines', SLOW, (_, text) => {
    const cpu = (read: string): number => {
      const begun = process.cpuUsage();
      refusal(() => new YamlFile(read, 'f'));
      return process.cpuUsage(begun).user;
    };
    const lines = Array.from({ length: 11_000 }, (_, index) => `- name: item number ${index} of the list\n`).join('');
    cpu(lines);
    expect(cpu(text)).toBeLessThan(4 * Math.max(cpu(lines), cpu(lines)));
  });

  it.each([
    ['that repeat a long list', `a: &a [${Array(3000).fill(0).join()}]\nb: [${Array(99).fill('*a').join()}]`],
    ['that hold themselves', 'a: &a [*a]'],
  ])('has no aliases %s', (_, text) => {
    expect(refusal(() => new YamlFile(text, 'f'))).toBe('f: its aliases make more than 200000 values');
  });

  it.each([
    ['{a: !!set {b, c}}', 'f:1:11: tag:yaml.org,2002:set is neither a list nor a map of JSON'],
    ['{a: !!omap [b: 1]}', 'f:1:12: tag:yaml.org,2002:omap is neither a list nor a map of JSON'],
    ['{a: !!binary "AAAA"}', 'f:1:14: a value is not JSON'],
    ['{a: !!timestamp 2001-01-01}', 'f:1:17: a value is not JSON'],
    ['%YAML 1.1\n---\n{a: 2001-01-01}', 'f:3:5: a value is not JSON'],
    ['{1: a, "1": b}', 'f:1:8: Map keys must be unique'],
    ['{"": a, null: b, ~: c}', 'f:1:9: Map keys must be unique'],
  ])('%j, which would be read as something else, is refused', (text, problem) => {
    expect(refusal(() => new YamlFile(text, 'f'))).toBe(problem);
  });

  it('may name arguments many times, in time that grows with its length', SLOW, () => {
    const args = Array.from({ length: 20_000 }, (_, index) => `a${index}`);
    const otherwise = { returns: { $text: args.map((name) => `{{${name}}}`).join('') } };
    const cases = [{ when: Object.fromEntries(args.map((name) => [name, 1])), returns: 1 }];
    const text = JSON.stringify({ tools: { 'tool.a.B': { args, cases, otherwise } } });
    const begun = process.cpuUsage();
    expect(loadMockTools(text, 'f')).toHaveLength(1);
    expect(process.cpuUsage(begun).user).toBeLessThan(4_500_000);
  });
});
