import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parse } from '../../grammar/index.ts';
import { ONE_PROFILE, SEVERAL_PROFILES } from '../../src/cli/config/schema.ts';
import { loadMockTools, loadPolicy } from '../../src/entries/index.ts';
import { ROOT } from '../architecture/source.ts';
import { definitions } from '../cli/definitions.ts';
import { type Block, blocksOf } from '../readme/blocks.ts';
import { wrongCommands } from '../readme/shell.ts';
import { typeErrors } from '../readme/typed.ts';

const PAGES = globSync(['*.md', '{docs,examples,bench,conformance,apps/lab}/**/*.md', 'apps/site/README.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
}).sort();

/** The marks whose blocks a test executes, with the pages it reads. */
const EXECUTED: readonly (readonly [mark: RegExp, page: RegExp, test: string])[] = [
  [/^run$/, /./, 'test/readme/pages.test.ts'],
  [/^run in Python$/, /./, 'test/cli/host.test.ts'],
  [/^with an? [\w .]+$/, /./, 'test/cli/reader.test.ts'],
  [/^three hosts$/, /^docs\/scale\.md$/, 'test/engines/page.test.ts'],
  [/^(step|file: .*)$/, /^docs\/tutorial\.md$/, 'test/package/tutorial.test.ts'],
  [/^(bundle|bundled)$/, /^docs\/install\.md$/, 'test/package/projects.test.ts'],
];

/** Why a shell block is shown and not executed. Another test runs the commands of the examples. */
const SHOWN =
  /^shown: (it installs from a registry|it takes minutes|it needs a model|it needs a container engine|a person answers|it ends when it is interrupted|it changes the shell of the reader|it needs the reader's own implementation|run by (?<test>test\/\S+\.test\.ts))$/;

/** The pages whose programs a test executes or judges, all of them. */
const PROGRAMS = [
  [/^docs\/language(-for-models)?\.md$/, 'test/docs/language.test.ts'],
  [/^docs\/errors\/NS/, 'test/docs/examples.test.ts'],
  [/^docs\/lints\.md$/, 'test/grammar/lint/docs.test.ts'],
] as const;

/** The pages whose commands a test executes, all of them. */
const COMMANDS = [[/^examples\/templates\//, 'test/package/newcomer.test.ts']] as const;

interface Placed extends Block {
  readonly page: string;
}

const all: readonly Placed[] = PAGES.flatMap((page) =>
  blocksOf(readFileSync(join(ROOT, page), 'utf8')).map((block) => ({ ...block, page })),
);
const executed = ({ page, mark }: Placed): boolean =>
  EXECUTED.some(([marks, pages]) => mark !== null && marks.test(mark) && pages.test(page));
const left = (...languages: string[]): Placed[] => all.filter((block) => languages.includes(block.language) && !executed(block));
const faults = (blocks: readonly Placed[], of: (block: Placed) => readonly string[]): string[] =>
  blocks.flatMap((block) => of(block).map((fault) => `${block.page}:${block.line} ${fault}`));

describe('every code block of every page', () => {
  it('is found, and in a language that is executed or checked', () => {
    expect(PAGES.length).toBeGreaterThan(140);
    expect(all.length).toBeGreaterThan(200);
    const known = ['sh', 'python', 'ts', 'js', 'json', 'yaml', 'ns', 'neuroscript', 'text', ''];
    expect(faults(all, ({ language }) => (known.includes(language) ? [] : [language]))).toEqual([]);
  });

  it('in a shell is executed, or names commands, options, scripts and files that exist', async () => {
    const program = await definitions();
    const blocks = left('sh').filter(({ page }) => !COMMANDS.some(([pages]) => pages.test(page)));
    expect(faults(blocks, ({ code }) => wrongCommands(code, program))).toEqual([]);
  });

  it('in Python is executed', () => {
    expect(faults(left('python'), () => ['is not executed'])).toEqual([]);
  });

  it('in a shell that is not executed says why', () => {
    const blocks = left('sh').filter(({ page }) => !COMMANDS.some(([pages]) => pages.test(page)));
    expect(faults(blocks, unexplained)).toEqual([]);
    expect(
      faults(
        all.filter(({ language }) => language !== 'sh'),
        ({ mark }) => (SHOWN.test(mark ?? '') ? ['is no shell block'] : []),
      ),
    ).toEqual([]);
  });

  it('in TypeScript or JavaScript fits the types of the package, unless JavaScript is executed', () => {
    const blocks = [...all.filter(({ language }) => language === 'ts'), ...left('js')];
    const modules = blocks.map(({ page, line, mark, code }): [string, string] => {
      const [, given = ''] = /^with: (.*)$/.exec(mark ?? '') ?? [];
      return [`${page.replaceAll(/\W/g, '_')}_${line}`, `${given}\n${code}`];
    });
    expect(modules.length).toBeGreaterThan(20);
    expect(typeErrors(new Map(modules))).toEqual([]);
  }, 120_000);

  it('in JSON can be read, whole or line by line', () => {
    const readable = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
      }
    };
    const wrong = ({ code }: Placed): string[] =>
      readable(code) || code.trimEnd().split('\n').every(readable) ? [] : ['is not JSON'];
    expect(faults(left('json'), wrong)).toEqual([]);
  });

  it('in YAML can be read, and fits its kind of file', () => {
    const wrong = ({ code, page }: Placed): string[] => {
      try {
        const keys = Object.keys(parseYaml(code));
        if (keys.includes('allow')) loadPolicy(code, page);
        if (keys.includes('profiles')) SEVERAL_PROFILES.parse(parseYaml(code));
        else if (keys.includes('agent')) ONE_PROFILE.parse(parseYaml(code));
        else if (keys.includes('tools') && !Array.isArray(parseYaml(code).tools)) loadMockTools(code, page);
        return keys.length > 0 ? [] : ['is empty'];
      } catch (error) {
        return [String(error)];
      }
    };
    expect(faults(left('yaml'), wrong)).toEqual([]);
  });

  it('in NeuroScript is executed, or is a program without mistakes', () => {
    const blocks = left('ns', 'neuroscript').filter(({ page }) => !PROGRAMS.some(([pages]) => pages.test(page)));
    const wrong = ({ code, page }: Placed): string[] => {
      const parsed = parse(code, { name: page });
      return parsed.ok ? [] : parsed.errors.map(({ message }) => message);
    };
    expect(faults(blocks, wrong)).toEqual([]);
  });
});

/** What is wrong with the reason that a block gives for not being executed. */
function unexplained({ page, mark }: Pick<Placed, 'page' | 'mark'>): string[] {
  const found = SHOWN.exec(mark ?? '');
  if (found === null) return ['is neither executed nor marked with a reason'];
  const test = found.groups?.['test'];
  if (test === undefined) return [];
  const [, example = ''] = /^examples\/([^/]+)\//.exec(page) ?? [];
  const runs = existsSync(join(ROOT, test)) && readFileSync(join(ROOT, test), 'utf8').includes(`examples/${example}`);
  return example !== '' && runs ? [] : [`is not run by ${test}`];
}

describe('a block that is wrong', () => {
  it('is noticed where it is neither executed nor explained', () => {
    const of = (mark: string | null, page = 'docs/a.md'): number => unexplained({ page, mark }).length;
    expect([of("shown: it needs the reader's own implementation"), of('shown: it takes minutes')]).toEqual([0, 0]);
    expect([of(null), of('shown: '), of('shown: for fun'), of('run'), of('shown: run by test/cli/ask.test.ts')]).toEqual([
      1, 1, 1, 1, 1,
    ]);
    const example = 'examples/ask/README.md';
    expect([of('shown: run by test/cli/ask.test.ts', example), of('shown: run by test/cli/no.test.ts', example)]).toEqual([0, 1]);
    expect(of('shown: run by test/cli/fmt.test.ts', example)).toBe(1);
  });

  it('is noticed in a shell', async () => {
    const program = await definitions();
    const wrong = (code: string): string[] => wrongCommands(code, program);
    expect(wrong('npx neuroscript run a.ns --cpu 1s --json # all\nnpx neuroscript sessions list < a | npm run build')).toEqual(
      [],
    );
    expect(wrong('npx neuroscript rum a.ns')).toEqual(['npx neuroscript rum a.ns: no command rum']);
    expect(wrong('npx neuroscript run a.ns && npx neuroscript run --cpus 1s')).toHaveLength(1);
    expect(wrong('npx neuroscript run a.ns \\\n  --cpu')).toHaveLength(1);
    expect(wrong('npx neuroscript run examples/no.ns')).toHaveLength(1);
    expect(wrong('npm run biuld\ncurl -o a https://example.test\nnpx node no/such.ts')).toHaveLength(3);
  });

  it('is noticed in TypeScript', () => {
    const page = "import { createRuntime } from 'neuroscript-runtime';\nawait createRuntime({ limits: { feul: 1 } });";
    expect(typeErrors(new Map([['page', page]])).join()).toContain('feul');
  }, 60_000);
});
