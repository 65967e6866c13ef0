// Sessions that the real command line makes, in a folder of their own, and the real server on them.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const COMMAND = fileURLToPath(new URL('../../../bin/neuroscript.js', import.meta.url));
const run = promisify(execFile);

/** The exit code of a command that cannot be understood. */
const USAGE = 2;

/** What an agent answered, as a script plays it. */
export const script = (...programs: readonly string[]): string =>
  programs
    .map((body) => `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\n${body}<<<NSENV:V3:END>>>\n`)
    .join('\n');

/** The statement that emits a token. */
export const token = (action: string): string => `  emit tool.aeiou.magic("LOOP", {"action": "${action}"})\n`;

const TOOLS = `tools:
  tool.shop.Stock:
    description: Tells how many of an article are there.
    args: [article]
    effects: none
    cases:
      - returns: 0
  tool.shop.Order:
    description: Orders an article.
    args: [article]
    cases:
      - returns: "ordered"
  tool.fs.Delete:
    description: Deletes a file.
    args: [path]
    cases:
      - returns: true
`;

const POLICY = 'allow: ["*"]\ndeny: ["tool.fs.*"]\ngrants: ["*:*:*"]\n';

/** Looks at the stock; without a pen the program fails. */
const ORDER = `command
  set sizes = []
  for each n in [1, 2, 3, 4, 5]
    set sizes = sizes + [n * 2]
  endfor
  set stock = tool.shop.Stock("pen")
  whisper self, "stock " + stock
  if stock < 1
    fail "no pen in stock"
  endif
  emit tool.shop.Order("pen")
${token('done')}endcommand
`;

const AGENTS: Readonly<Record<string, string>> = {
  order: script(ORDER),
  cleanup: script(
    `command\n  emit "looking for old reports"\n${token('continue')}endcommand\n`,
    `command\n  emit "deleting"\n  set gone = tool.fs.Delete("/var/reports/old")\n${token('done')}endcommand\n`,
  ),
  greeting: script(
    `command\n  emit "hello"\n${token('continue')}endcommand\n`,
    `command\n  emit "hello again"\n  emit tool.shop.Stock("ink")\n${token('done')}endcommand\n`,
  ),
};

export class Real implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'neuroscript-inspector-'));
  readonly #servers: ChildProcess[] = [];

  /** Runs the sessions: `order` fails for want of a pen, `cleanup` meets the policy, `greeting` gets done; and `more`, by agents' names. */
  static async make(more: Readonly<Record<string, string>> = {}): Promise<Real> {
    const real = new Real();
    real.#write('tools.yaml', TOOLS);
    real.#write('policy.yaml', POLICY);
    real.#write('userdata.json', '{"subject": "the shop", "fields": {}}');
    for (const [sid, agent] of Object.entries({ ...more, ...AGENTS })) {
      real.#write(`${sid}.txt`, agent);
      const flags = ['--tools', 'tools.yaml', '--policy', 'policy.yaml', '--userdata', 'userdata.json', '--log', 'log.jsonl'];
      await real.command('loop', '--agent', `script:${sid}.txt`, '--sid', sid, '--store', 'sessions.db', ...flags);
    }
    return real;
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Runs a command to its end. A halted session gives an exit code too; what matters is what the store has afterwards. */
  async command(...args: readonly string[]): Promise<void> {
    const options = { cwd: this.folder, env: { ...process.env, NO_COLOR: '1' }, timeout: 120_000 };
    await run(process.execPath, [COMMAND, ...args], options).catch((error: Error & { readonly code?: unknown }) => {
      if (error.code === USAGE) throw error;
    });
  }

  /** Starts the server; the address to open is what it prints. */
  async serve(...flags: readonly string[]): Promise<string> {
    const args = [COMMAND, 'ui', '--store', 'sessions.db', '--log', 'log.jsonl', ...flags];
    const child = spawn(process.execPath, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#servers.push(child);
    for await (const line of createInterface(child.stdout)) {
      const address = /^Open (http:\S+)$/.exec(line)?.[1];
      if (address !== undefined) return address;
    }
    throw new Error('the server ended without an address');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#servers.filter(({ exitCode }) => exitCode === null)) {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
