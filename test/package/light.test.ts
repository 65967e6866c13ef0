// @module-tag slow
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { nodeOf, PROGRAM, prepared, run, succeed } from './kit.ts';

/**
 * Most elapsed seconds of the installation, with the packages in npm's cache (6 s of CPU time, and 23 s beside a load of 29 on two cores), and
 * of all that a newcomer does first.
 */
const MOST_SECONDS = 120;

/** The commands of a page's shell blocks, in order. */
function commandsOf(page: string): string {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join('');
}

/** The first block of `README.md` in a language. */
function shown(language: string): { readonly code: string; readonly prints: string } {
  const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, code = '', prints = ''] =
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\`\\n\\n\`\`\`text\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return { code, prints };
}

describe.each([24, 26] as const)('the package alone in an empty folder, on Node %i', (major) => {
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-light-'));
  const modules = join(folder, 'node_modules');
  const eachOf = (pattern: string): string[] => globSync(pattern, { cwd: modules });
  const node = nodeOf(major);
  let seconds = 0;
  beforeAll(() => {
    const started = performance.now();
    succeed('npm', ['install', prepared().tarball], { cwd: folder, node: node.binary });
    seconds = (performance.now() - started) / 1000;
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('brings at most 12 packages, and 15 MB beside isolated-vm', () => {
    const packages = eachOf('{*,@*/*}/package.json').filter((path) => path !== 'neuroscript-runtime/package.json');
    expect(packages.length).toBeLessThanOrEqual(12);
    const files = eachOf('**/*').filter((path) => !path.startsWith('isolated-vm') && statSync(join(modules, path)).isFile());
    const bytes = files.reduce((sum, path) => sum + statSync(join(modules, path)).size, 0);
    expect(bytes).toBeLessThan(15_000_000);
    process.stdout.write(`Node ${major}: ${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s\n`);
    expect(seconds).toBeLessThan(MOST_SECONDS);
  });

  it('issue 50: does what the first screen of README.md shows, in TypeScript and in Python', () => {
    const [typescript, python] = [shown('ts'), shown('python')];
    writeFileSync(join(folder, 'first.mts'), typescript.code);
    expect(run(node.binary, ['first.mts'], { cwd: folder, node: node.binary })).toMatchObject({
      status: 0,
      stdout: typescript.prints,
    });
    const [, path = ''] = /PYTHONPATH=(\S+) python3/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
    writeFileSync(join(folder, 'first.py'), python.code);
    const env = { PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' };
    expect(run('python3', ['first.py'], { cwd: folder, node: node.binary, env })).toMatchObject({
      status: 0,
      stdout: python.prints,
    });
  });

  it('runs, tests, loops, lists and replays what init wrote, as its README says, in two minutes with the installation', () => {
    const started = performance.now();
    const call = { cwd: folder, node: node.binary, env: { XDG_STATE_HOME: join(folder, 'state') } };
    expect(succeed('npx', ['--no', 'neuroscript', 'init'], call).split('\n')).toContain('order.ns');
    const script = commandsOf(readFileSync(join(folder, 'README.md'), 'utf8'));
    const said = succeed('bash', ['-euo', 'pipefail', '-c', script], call);
    for (const part of [
      '\ntotal: 15\n',
      'no mistakes found',
      '4 passed, 0 failed',
      /pass 2\n/,
      'DONE after 2 turns',
      'first  done  2 turns',
      '2 same',
    ])
      expect(said).toMatch(part);
    expect(said).not.toMatch(/fail [1-9]/);
    expect(seconds + (performance.now() - started) / 1000).toBeLessThan(MOST_SECONDS);
  });

  it('runs a program; what needs another package says in one sentence how to install it', () => {
    expect(run('npx', ['neuroscript', 'run', '-'], { cwd: folder, node: node.binary, input: PROGRAM })).toEqual({
      status: 0,
      stdout: '3\n',
      stderr: '',
    });
    const needs = (name: string, packages: string): string =>
      `this needs the package ${name}, which is not installed: npm install ${packages}`;
    const mcp = needs('@modelcontextprotocol/client', '@modelcontextprotocol/client@2 @modelcontextprotocol/server@2');
    for (const [args, sentence] of [
      [['lsp'], needs('vscode-languageserver', 'vscode-languageserver@10 vscode-languageserver-textdocument@1')],
      [['tools', 'mcp'], mcp],
    ] as const)
      expect(run('npx', ['neuroscript', ...args], { cwd: folder, node: node.binary })).toEqual({
        status: 2,
        stdout: '',
        stderr: `neuroscript: ${sentence}\n`,
      });
    const script = ['ai', 'mcp'].map(
      (entry) => `await import('neuroscript-runtime/${entry}').catch((e) => console.log(e.code, e.message));`,
    );
    expect(succeed(node.binary, ['--input-type=module', '-e', script.join('\n')], { cwd: folder, node: node.binary })).toBe(
      `ERR_CONFIG ${needs('ai', 'ai@7')}\nERR_CONFIG ${mcp}\n`,
    );
  });

  it('issue 50: runs programs and the loop with isolated-vm nowhere', () => {
    rmSync(join(modules, 'isolated-vm'), { recursive: true, force: true });
    const script = `
      import { createRuntime, defineTool } from 'neuroscript-runtime';
      import { createThreadRuntime } from 'neuroscript-runtime/browser';
      import { functionAgent, LoopController, programReply } from 'neuroscript-runtime/loop';
      await createRuntime().catch(({ code, message }) => console.log(code, message.includes('createThreadRuntime')));
      const tools = ['tool.a.Read', 'tool.a.Write'].map((name) => defineTool({ name, run: async () => name }));
      await using runtime = await createThreadRuntime({ tools, policy: { allow: ['tool.a.Read'] } });
      const result = await runtime.run('command\\n  emit tool.a.Read()\\n  emit tool.a.Write()\\nendcommand');
      console.log(result.emits, result.error.code, result.journal.length);
      const program = 'command\\n  emit tool.a.Read()\\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\\nendcommand';
      const agent = functionAgent(() => programReply(program));
      const { decision, output } = await new LoopController({ runtime }).runLoop({ agent, userdata: { subject: 's', fields: {} } });
      console.log(decision, output);`;
    const said = succeed(node.binary, ['--input-type=module', '-e', script], { cwd: folder, node: node.binary });
    expect(said).toBe("ERR_CONFIG true\n[ 'tool.a.Read' ] NS1003 2\nDONE tool.a.Read\n");
  });
});

describe('the check before anything is compiled', () => {
  const check = (node: string, machine: string, env = {}) => {
    const [platform, arch] = machine.split('-');
    const here = `const versions = { node: '${node}' }; Object.defineProperties(process, { versions: { value: versions },
      platform: { value: '${platform}' }, arch: { value: '${arch}' } });`;
    const text = readFileSync(join(ROOT, 'bin/preinstall.cjs'), 'utf8');
    return run(process.execPath, ['-e', here + text], { cwd: ROOT, env });
  };

  it.each([
    ['20.20.2', 'linux-x64', 'needs Node 24 or 26; this is Node 20.20.2. Nothing was compiled.'],
    ['24.1.0', 'darwin-x64', 'has no binary of its native module for darwin-x64. Nothing was compiled.'],
    ['25.0.0', 'linux-x64', 'has no binary of its native module for Node 25; use Node 24 or 26. Nothing was compiled.'],
  ])('on Node %s, %s: %s', (node, machine, sentence) => {
    const { status, stderr } = check(node, machine);
    expect([status, stderr.split('\n')[0]]).toEqual([1, `neuroscript-runtime ${sentence}`]);
    expect(check(node, machine, { NEUROSCRIPT_COMPILE: '1' })).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it.each([
    ['24.1.0', 'linux-x64'],
    ['26.10.0', 'linux-arm64'],
    ['26.10.0', 'darwin-arm64'],
    ['28.0.0', 'win32-x64'],
  ])('on Node %s, %s it says nothing', (node, machine) => {
    expect(check(node, machine)).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
