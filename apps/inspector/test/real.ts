// Sessions that the real command line makes, in a folder of their own, and the real server on them.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    cost: { usd: 0.02 }
    cases:
      - returns: "ordered"
  tool.human.Approve:
    description: Asks a person.
    args: [what]
    returns: bool
    effects: none
    cases:
      - pending: { reason: "may I write to all customers? asks the shop's owner", expiresIn: 82800000 }
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

/** Asks a person before it writes to everybody. */
const APPROVAL = script(
  `command\n  set ok = tool.human.Approve({"to": "all customers"})\n  emit "approved: " + ok\n${token('done')}endcommand\n`,
);

/** Orders a pen in its first turn; in its second one a pen again, and as much ink as there is. */
const PLANNED = script(
  `command\n  emit tool.shop.Order("pen")\n${token('continue')}endcommand\n`,
  `command\n  set stock = tool.shop.Stock("ink")\n  emit tool.shop.Order("pen")\n  while stock > 0\n    emit tool.shop.Order("ink")\n    set stock = stock - 1\n  endwhile\n${token('done')}endcommand\n`,
);

/** What a session needs to make its calls. */
const CALLS = ['--tools', 'tools.yaml', '--policy', 'policy.yaml'] as const;

const AGENTS: Readonly<Record<string, string>> = {
  order: script(ORDER),
  cleanup: script(
    `command\n  emit "looking for old reports"\n${token('continue')}endcommand\n`,
    `command\n  emit "deleting"\n  set gone = tool.fs.Delete("/var/reports/old")\n${token('done')}endcommand\n`,
  ),
  approval: APPROVAL,
  mute: script(`command\n  emit "hello"\n${token('continue')}endcommand\n`),
  asker: script(
    `command\n  on error do\n    clear_error\n    emit "the expert failed"\n  endon\n  ask "expert", "how many?" into answer\n${token('done')}endcommand\n`,
  ),
  greeting: script(
    `command\n  emit "hello"\n${token('continue')}endcommand\n`,
    `command\n  emit "hello again"\n  emit tool.shop.Stock("ink")\n${token('done')}endcommand\n`,
  ),
};

export class Real implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'neuroscript-inspector-'));
  /** An agent whose call waits for a person. */
  static readonly approval = APPROVAL;
  readonly #servers: ChildProcess[] = [];

  /** Tools, a policy and a model, and no session. */
  static empty(): Real {
    const real = new Real();
    real.#write('tools.yaml', TOOLS);
    real.#write('policy.yaml', POLICY);
    real.#write('models.json', '{"models": {"expert": {"provider": "script", "model": "expert.txt"}}}');
    real.#write('expert.txt', script('command\n  fail "the expert does not know"\nendcommand\n'));
    real.#write('userdata.json', '{"subject": "the shop", "fields": {}}');
    return real;
  }

  /** Runs the sessions: `order` fails for want of a pen, `cleanup` meets the policy, `greeting` gets done; and `more`, by agents' names. */
  static make(more: Readonly<Record<string, string>> = {}): Promise<Real> {
    return Real.of({ ...more, ...AGENTS });
  }

  /** Runs sessions of these agents. */
  static async of(agents: Readonly<Record<string, string>>): Promise<Real> {
    const real = Real.empty();
    for (const [sid, agent] of Object.entries(agents)) await real.loop(sid, agent);
    return real;
  }

  /** Drives a session by an agent that answers with this script. */
  async loop(sid: string, agent: string, ...more: readonly string[]): Promise<void> {
    this.#write(`${sid}.txt`, agent);
    const flags = ['--userdata', 'userdata.json', '--log', 'log.jsonl', '--models', 'models.json', ...more];
    await this.command('loop', '--agent', `script:${sid}.txt`, '--sid', sid, '--store', 'sessions.db', ...CALLS, ...flags);
  }

  /** A session whose second turn waits for the approval of its plan; that of the first one was approved. */
  async plan(sid: string): Promise<void> {
    const keys = ['--keys', 'keys.json'];
    if (!existsSync(join(this.folder, 'keys.json'))) await this.command('keys', 'generate', 'keys.json');
    await this.loop(sid, PLANNED, '--approve', 'plan', ...keys);
    await this.command('sessions', 'complete', sid, 'plan', 'true', '--store', 'sessions.db', ...keys);
    await this.resume(sid, '--approve', 'plan', ...keys);
  }

  /** Goes on with a session. */
  async resume(sid: string, ...flags: readonly string[]): Promise<void> {
    const agent = ['--agent', `script:${sid}.txt`, '--models', 'models.json'];
    await this.command('sessions', 'resume', sid, '--store', 'sessions.db', '--log', 'log.jsonl', ...agent, ...CALLS, ...flags);
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
