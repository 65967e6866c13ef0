// @module-tag slow
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';
import { BIN, command, folder, neuroscript } from './spawn.ts';

const AGENT = [
  '<<<NSENV:V3:START>>>',
  '<<<NSENV:V3:USERDATA>>>',
  '{"subject":"s","fields":{}}',
  '<<<NSENV:V3:ACTIONS>>>',
  command('emit tool.aeiou.magic("LOOP", {"action": "done"})').trimEnd(),
  '<<<NSENV:V3:END>>>\n',
].join('\n');

const LONG = 'x'.repeat(3000);
const INTENT = '00000000-0000-4000-8000-000000000000';

/** Commands that write, and the standard input of each. */
const WRITERS: readonly (readonly [line: string, stdin: string])[] = [
  ['init'],
  ['init made/project --service'],
  ['keys generate k.json'],
  ['keys generate k.json --receipts'],
  ['keys rotate keys.json'],
  ['gate propose plan.json --queue .'],
  ['gate propose plan.json --queue queue'],
  [`gate execute ${INTENT} ${'0'.repeat(64)} --queue queue -- ls`],
  ['run a.ns --record r.yaml'],
  ['run a.ns --storage v.db'],
  ['run a.ns --heat h.html'],
  ['run a.ns --trace-out t.json'],
  ['foresee a.ns --html p.html'],
  ['fmt a.ns'],
  ['repl', `set x = "${LONG}"\n:save saved.ns\n`],
  ['loop --agent script:agent.txt --store t.db'],
  ['loop --agent script:agent.txt --store none --log t.log'],
  ['loop --config config.yaml --store none'],
  ['sessions export --store s.db --out e.json'],
  ['sessions show s --store s.db --html p.html'],
  ['sessions receipt s --store s.db --key receipts.key --out s.receipt'],
  ['log checkpoint d.log --key receipts.key --out c.json'],
].map(([line = '', stdin = '']) => [line, stdin]);

/** Runs the command where no file may grow beyond so many blocks of 1,024 bytes, as on a full disk. */
const within = (blocks: number | 'unlimited', line: string, cwd: string, input = '') =>
  spawnSync('bash', ['-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$1" ${line}`, process.execPath, BIN], {
    cwd,
    input,
    encoding: 'utf8',
    env: { ...process.env, XDG_STATE_HOME: cwd, NO_COLOR: '1' },
  });

const prepared = realpathSync(tempFolder());
beforeAll(() => {
  const files = {
    'a.ns': command(`emit    "${LONG}"`, 'emit tool.time.Parse("2025-10-15T08:00:00Z")'),
    'agent.txt': AGENT,
    'config.yaml': 'agent: script:agent.txt\ntranscript: t.jsonl\n',
    'plan.json': `{"a":"${LONG}"}`,
  };
  mkdirSync(join(prepared, 'queue'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(prepared, name), text);
  for (const line of [
    'keys generate keys.json',
    'keys generate receipts.key --receipts',
    'loop --agent script:agent.txt --sid s --store s.db --log d.log',
    'gate propose plan.json --queue queue',
  ])
    expect([line, within('unlimited', `${line}`, prepared)]).toMatchObject([line, { status: 0 }]);
});

/**
 * The files below a folder with their contents. SQLite keeps its own in order. An empty file is a store without sessions and a log without
 * lines, which another process may have opened. A lock stays, because its removal would let two processes in.
 */
function contents(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names
      .filter((name) => !/(?:-(?:wal|shm|journal)|\.lock)$/.test(name))
      .map((name) => [name, statSync(join(path, name)).isFile() ? readFileSync(join(path, name), 'latin1') : ''])
      .filter(([name, text]) => !/\.(?:db|log)$/.test(name ?? '') || text !== ''),
  );
}

it('a session whose turns cannot be printed stays open, and another process can go on with it at once', async () => {
  const slow = `cat <<'END'\n${AGENT.replace('"done"', '"continue"')}END\nsleep 1\n`;
  const cwd = folder({ 'slow.sh': slow, 'agent.txt': AGENT });
  const drive = ['--store', 's.db', '--agent'];
  const full = openSync('/dev/full', 'w');
  const failed = await neuroscript(['loop', '--sid', 's', ...drive, 'command:sh slow.sh'], { cwd, stdoutTo: full });
  closeSync(full);
  expect(failed).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^neuroscript: the output cannot be written: [^\n]*\n$/),
  });
  const resumed = await neuroscript(['sessions', 'resume', 's', ...drive, 'command:cat agent.txt'], { cwd });
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('Session s: DONE after') });
});

it.each(WRITERS)('issues 19 and 44: on a full disk, nothing empty or half is left behind by: %s', (line, stdin) => {
  for (const blocks of [0, 1]) {
    const cwd = realpathSync(tempFolder());
    if (!line.startsWith('init')) cpSync(prepared, cwd, { recursive: true });
    const before = contents(cwd);
    const { status, stderr } = within(blocks, line, cwd, stdin);
    if (status === 0 && blocks > 0) continue;
    expect([line, blocks, status]).toEqual([line, blocks, line.startsWith('gate') ? 1 : line.includes('--config') ? 11 : 2]);
    if (status !== 11) expect(stderr).toMatch(/^neuroscript: [^\n]*\n$/);
    expect(stderr).not.toMatch(/please report|E[A-Z]{4}/);
    expect(contents(cwd)).toEqual(before);
  }
});
