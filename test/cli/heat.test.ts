import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { folder } from './spawn.ts';
import { within } from './terminal.ts';

const LIB = 'func twice(needs n) means\n  set m = n * 2\n  return m\nendfunc\n';
const MAIN = `command
  set i = 0
  while i < 3
    set i = i + 1
    emit twice(i)
  endwhile
  together
    set a = tool.t.Get("a")
    set b = tool.t.Get("b")
  endtogether
  call tool.str.Length("<script>alert(1)</script>")
endcommand
`;
const TOOLS = 'tools:\n  tool.t.Get: {args: [key], otherwise: {returns: ok}}\n';

/** The published format of speedscope files, by https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts. */
const SPEEDSCOPE = {
  type: 'object',
  required: ['$schema', 'shared', 'profiles'],
  properties: {
    $schema: { const: 'https://www.speedscope.app/file-format-schema.json' },
    name: { type: 'string' },
    exporter: { type: 'string' },
    activeProfileIndex: { type: 'number' },
    shared: {
      type: 'object',
      required: ['frames'],
      properties: {
        frames: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, file: { type: 'string' }, line: { type: 'number' }, col: { type: 'number' } },
            additionalProperties: false,
          },
        },
      },
    },
    profiles: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'name', 'unit', 'startValue', 'endValue', 'events'],
        properties: {
          type: { const: 'evented' },
          name: { type: 'string' },
          unit: { enum: ['none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'] },
          startValue: { type: 'number' },
          endValue: { type: 'number' },
          events: {
            type: 'array',
            items: {
              type: 'object',
              required: ['type', 'at', 'frame'],
              properties: { type: { enum: ['O', 'C'] }, at: { type: 'number' }, frame: { type: 'number' } },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

const speedscope = z.object({
  shared: z.object({ frames: z.array(z.object({ name: z.string() })) }),
  profiles: z.array(
    z.object({
      name: z.string(),
      endValue: z.number(),
      events: z.array(z.object({ type: z.string(), at: z.number(), frame: z.number() })),
    }),
  ),
});

/** The documented fields of trace events: complete events (X) and metadata (M). */
const chrome = z.strictObject({
  displayTimeUnit: z.enum(['ms', 'ns']),
  otherData: z.looseObject({ fuel: z.number(), notices: z.array(z.string()) }),
  traceEvents: z.array(
    z.discriminatedUnion('ph', [
      z.strictObject({
        ph: z.literal('X'),
        name: z.string(),
        cat: z.string(),
        ts: z.int().min(0),
        dur: z.int().min(0),
        pid: z.int(),
        tid: z.int(),
        args: z.looseObject({}),
      }),
      z.strictObject({
        ph: z.literal('M'),
        name: z.enum(['process_name', 'thread_name']),
        pid: z.int(),
        tid: z.int(),
        args: z.strictObject({ name: z.string() }),
      }),
    ]),
  ),
});

const FILES = { 'lib.ns': LIB, 'main.ns': MAIN, 'tools.yaml': TOOLS };
const RUN = ['run', 'lib.ns', 'main.ns', '--tools', 'tools.yaml'];

describe('run --trace-out and --heat', () => {
  it('write what tools of others read, and change nothing that the run says', async () => {
    const cwd = folder(FILES);
    const plain = await within([...RUN, '--trace'], { cwd });
    const outputs = ['--trace-out', 'a.json', '--heat', 'heat.html'];
    const measured = await within([...RUN, '--trace', ...outputs], { cwd });
    const untimed = (text: string): string => text.replace(/[\d.]+ ?ms/g, 'TIME');
    expect({ ...measured, stderr: untimed(measured.stderr) }).toEqual({ ...plain, stderr: untimed(plain.stderr) });
    const { traceEvents, otherData } = chrome.parse(JSON.parse(readFileSync(join(cwd, 'a.json'), 'utf8')));
    const named = traceEvents.flatMap((event) => (event.ph === 'X' ? [`${event.cat} ${event.name}`] : []));
    expect(named.filter((name) => name === 'procedure twice')).toHaveLength(3);
    expect(named.filter((name) => name.startsWith('statement '))).toHaveLength(3 * 4 + 6);
    expect(named).toContain('tool tool.str.length');
    const branches = traceEvents.filter((event) => event.ph === 'X' && event.name === 'tool.t.get');
    expect(branches.map(({ tid, args }) => [tid, Reflect.get(args, 'line')])).toEqual([
      [2, 8],
      [3, 9],
    ]);
    const whole = traceEvents.find((event) => event.name === 'Command Block');
    expect(Reflect.get(whole?.args ?? {}, 'fuel')).toBe(otherData.fuel);
    expect(statSync(join(cwd, 'a.json')).mode & 0o777).toBe(0o600);
  });

  it('choose speedscope by the name or by the flag, and add up to the fuel of the run', async () => {
    const cwd = folder(FILES);
    for (const flags of [
      ['--trace-out', 'b.speedscope.json'],
      ['--trace-out', 'b.speedscope.json', '--trace-format', 'speedscope'],
    ]) {
      const { stdout } = await within([...RUN, '--json', ...flags], { cwd });
      const { usage } = z.object({ usage: z.object({ fuel: z.number() }) }).parse(JSON.parse(stdout));
      const json: unknown = JSON.parse(readFileSync(join(cwd, 'b.speedscope.json'), 'utf8'));
      const validate = new Ajv({ strict: false }).compile(SPEEDSCOPE);
      expect(validate(json) ? [] : validate.errors).toEqual([]);
      const { profiles, shared } = speedscope.parse(json);
      expect(profiles.map(({ name }) => name)).toEqual(['fuel of all paths', 'order of time']);
      expect(profiles[0]?.endValue).toBe(usage.fuel);
      for (const { events, endValue } of profiles) {
        const open: number[] = [];
        let last = 0;
        for (const { type, at, frame } of events) {
          expect(at).toBeGreaterThanOrEqual(last);
          expect(shared.frames[frame]).toBeDefined();
          last = at;
          if (type === 'O') open.push(frame);
          else expect(open.pop()).toBe(frame);
        }
        expect(open).toEqual([]);
        expect(last).toBe(endValue);
      }
    }
  });

  it('the page of heat runs nothing and loads nothing, and shows programs as text', async () => {
    const cwd = folder(FILES);
    expect(await within([...RUN, '--heat', 'heat.html'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    const page = readFileSync(join(cwd, 'heat.html'), 'utf8');
    expect(page).toContain("default-src 'none'; style-src 'sha256-");
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script|<link|<img|src=|href=|url\(|style="|\son\w+="/);
    expect(page).toMatch(/<td>69<\/td>.*emit twice\(i\)/);
  });

  it.each([
    [['--trace-out', 'x.txt'], '--trace-out writes a .json file'],
    [['--heat', 'main.ns'], '--heat writes a .html file'],
    [['--heat', 'none/x.html'], 'its folder does not exist'],
    [['--trace-format', 'chrome'], '--trace-format needs --trace-out'],
    [['--trace-out', 'x.json', '--trace-format', 'pdf'], "must be one of chrome, speedscope, not 'pdf'"],
  ])('refuse %j before anything runs', async (flags, message) => {
    const { code, stdout, stderr } = await within([...RUN, ...flags], { cwd: folder(FILES) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('say that a long trace is cut, and that nothing ran', async () => {
    const cwd = folder({
      'loop.ns': 'command\n  for each c in "a" * 1000\n    set x = c\n  endfor\nendcommand\n',
      'bad.ns': 'command\n',
    });
    const cut = await within(['run', 'loop.ns', '--trace-out', 'a.json', '--trace-events', '100'], { cwd });
    expect(cut).toMatchObject({ code: 0, stderr: expect.stringContaining('the trace lacks 922 of 1,002 statements and calls') });
    const bad = await within(['run', 'bad.ns', '--heat', 'b.html'], { cwd });
    expect(bad).toMatchObject({ code: 3, stderr: expect.stringContaining('no trace and no heat are written') });
  });
});

const EXAMPLE = new URL('../../examples/plan-apply/', import.meta.url).pathname;

describe('replay of one turn', () => {
  it('shows the variables at a statement, back and forth, and writes heat', async () => {
    const cwd = folder({});
    const file = (name: string): string => join(EXAMPLE, name);
    const drive = ['--agent', `script:${file('agent.txt')}`, '--tools', file('tools.yaml'), '--userdata', file('userdata.json')];
    expect(await within(['loop', ...drive, '--sid', 'demo', '--store', 'jobs.db'], { cwd })).toMatchObject({ code: 0 });
    const replay = (...flags: readonly string[]) =>
      within(['replay', 'demo', '--store', 'jobs.db', '--turn', '1', ...flags], { cwd });
    const step = await replay('--step', '5');
    expect(step).toMatchObject({ code: 0, stderr: '' });
    await expect(step.stdout).toMatchFileSnapshot('golden/step.txt.golden');
    expect((await replay('--at', '12')).stdout).toBe(step.stdout);
    expect((await replay('--at', 'ACTIONS:12:1')).stdout).toBe(step.stdout);
    const json = await replay('--at', '12', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      sid: 'demo',
      turn: 1,
      verdict: 'same',
      steps: 7,
      visits: 1,
      step: { step: 5 },
    });
    expect(await replay('--at', '12:2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('line 12 of ACTIONS was executed 1 time, so it has no visit 2'),
    });
    expect((await replay('--at', '4')).stderr).toContain(
      'no statement of line 4 of ACTIONS was executed; executed lines near it are 2, 3',
    );
    expect((await replay('--step', '8')).stderr).toContain('the turn executed 7 statements, so it has no step 8');
    expect(await replay('--heat', 'turn.html', '--trace-out', 'turn.json')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(cwd, 'turn.html'), 'utf8')).toContain('<title>Heat of demo turn 1</title>');
    chrome.parse(JSON.parse(readFileSync(join(cwd, 'turn.json'), 'utf8')));
    expect((await replay('--at', '12', '--step', '3')).stderr).toContain('cannot be combined');
    expect((await within(['replay', 'demo', '--store', 'jobs.db', '--at', '12'], { cwd })).stderr).toContain('--turn N');

    const exported = ['sessions', 'export', 'demo', '--store', 'jobs.db', '--out', 'demo.json'];
    expect(await within(exported, { cwd })).toMatchObject({ code: 0 });
    expect((await within(['replay', 'demo.json', '--turn', '1', '--step', '5'], { cwd })).stdout).toBe(step.stdout);
  });
});
