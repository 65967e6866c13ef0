import { describe, expect, it } from 'vitest';
import type { SourceFile } from '../../grammar/syntax/ast.ts';
import { boot } from '../../src/guest/main.ts';
import { type Driven, type DriveOptions, drive, driveFiles } from './driver.ts';

const event = (name: string, payload: DriveOptions['args'] extends undefined ? never : unknown = null) => ({
  name,
  source: 'src',
  payload: payload as null,
});

describe('the phases of a program', () => {
  it('definitions of all files, then commands in order, then the call, then events', () => {
    const first = "command\nemit helper()\nset shared = 'x'\nendcommand\n";
    const second =
      "func helper() means\nreturn 'helped'\nendfunc\nfunc main(needs a) means\nemit a\nreturn [a]\nendfunc\non event 'e' do\nemit 'event'\nendon\n";
    const third = 'command\nemit shared\nendcommand\n';
    const driven = drive([first, second, third], { call: 'main', args: [7], events: [event('e')] });
    expect(driven.emits).toEqual(['helped', 'x', '7', 'event']);
    expect(driven).toMatchObject({ ok: true, phase: 'events', result: [7] });
  });

  it('tells where a failure happened', () => {
    const fails = 'command\nfail 1\nendcommand\n';
    expect(drive(fails)).toMatchObject({
      ok: false,
      phase: 'exec',
      error: { code: 'NS1', stack: [{ name: 'Command Block', line: 1 }] },
    });
    expect(drive('func f() means\nfail 1\nendfunc\n', { call: 'f' })).toMatchObject({ phase: 'call', result: null });
    expect(drive('on event nope() do\nemit 1\nendon\n')).toMatchObject({
      phase: 'load',
      error: { code: 'NS2', line: 1, column: 10 },
    });
  });

  it('an empty program does nothing, well', () => {
    expect(drive('# nothing\n')).toMatchObject({ ok: true, phase: 'exec', result: null, error: null, fuel: 0, outputBytes: 0 });
  });

  it('a failing command block ends the run: later ones, call and events are not reached', () => {
    const files = [
      "command\nfail 'x'\nendcommand\ncommand\nemit 'never'\nendcommand\n",
      "func f() means\nemit 'never'\nendfunc\n",
    ];
    expect(drive(files, { call: 'f' }).emits).toEqual([]);
  });

  it('ruling 14: a call by the host is counted, too', () => {
    const source = 'func f(needs a optional b) means\nreturn [a, b]\nendfunc\n';
    expect(drive(source, { call: 'f', args: [1] }).result).toEqual([1, null]);
    expect(drive(source, { call: 'f', args: [] }).error).toMatchObject({ code: 'NS4', source: null, line: null, stack: [] });
    expect(drive(source, { call: 'f', args: [1, 2, 3] }).error).toMatchObject({ code: 'NS4' });
    expect(drive(source, { call: 'F' }).error).toMatchObject({ code: 'NS2', hint: expect.stringContaining("'f'") });
  });

  it('ruling 17: a procedure that two files define', () => {
    const source = 'func f() means\nemit 1\nendfunc\n';
    expect(drive([source, source])).toMatchObject({
      phase: 'load',
      error: { code: 'NS42', source: 'test2.ns', line: 1, column: 6 },
    });
  });

  it('last is the same fork over all command blocks', () => {
    expect(drive('command\nset x = 5\nendcommand\ncommand\nemit last\nendcommand\n').emits).toEqual(['5']);
  });

  it('a procedure that is never called is never compiled', () => {
    const broken = { k: 'strange', s: 0, e: 0 };
    const body = (stmts: unknown[]) => ({ stmts });
    const procedure = (name: string, stmts: unknown[]) => ({
      s: 0,
      e: 0,
      name: { name, s: 0, e: 0 },
      needs: [],
      optional: [],
      returns: [],
      metadata: [],
      body: body(stmts),
    });
    const file = {
      name: 'tree.ns',
      kind: 'library',
      lines: { starts: [0], astral: [] },
      metadata: [],
      procedures: [
        procedure('bad', [broken]),
        procedure('good', [{ k: 'emit', s: 0, e: 0, value: { k: 'num', v: 1, s: 0, e: 0 } }]),
      ],
      events: [],
      commands: [],
    } as unknown as SourceFile;
    expect(driveFiles([file], { call: 'good' }).emits).toEqual(['1']);
    expect(driveFiles([file], { call: 'bad' }).error).toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('strange'),
    });
  });

  it('an input that is no request is an internal error', () => {
    const run = boot(
      () => 0,
      () => '',
      () => '',
    );
    expect(JSON.parse(run('{'))).toMatchObject({ ok: false, phase: 'request', error: { kind: 'internal' } });
  });
});

describe('events', () => {
  const source = (body: string): string => `on event 'x' as e do\n${body}\nendon\n`;
  const deliver = (text: string, payloads: unknown[], more: DriveOptions = {}): Driven =>
    drive(text, { events: payloads.map((payload) => event('x', payload)), ...more });

  it('P20: the record around a payload; there is no clock, so TS is nil', () => {
    const driven = deliver(source('emit e'), [{ a: 1 }, 'text']);
    expect(driven.values).toEqual([
      { payload: [{ ID: 'fork.event.1', Kind: 'x', AgentID: 'src', TS: null, Payload: { a: 1 } }] },
      { payload: [{ ID: 'fork.event.2', Kind: 'x', AgentID: 'src', TS: null, Payload: 'text' }] },
    ]);
  });

  it('ID and TS are inputs of the run', () => {
    const events = [{ ...event('x'), id: 'e-1', ts: 1_760_000_000_000_000_000 }];
    const run = drive(source('emit [e.payload[0].ID, e.payload[0].TS]'), { events });
    expect(run.emits).toEqual(['["e-1", 1760000000000000000]']);
  });

  it('a payload that has the form already is passed on', () => {
    const whole = { payload: [{ ID: 'i', Kind: 'x', AgentID: 'a', TS: 5, Payload: 1 }] };
    expect(deliver(source('emit e'), [whole]).values).toEqual([whole]);
  });

  it('ruling 16: an error is reported, emits stay, the run is fine', () => {
    const driven = deliver(`${source('emit 1\nset x = nil + 1')}${source('emit 2')}`, [null]);
    expect(driven).toMatchObject({
      ok: true,
      phase: 'events',
      emits: ['1', '2'],
      eventErrors: [{ event: 'x', error: { code: 'NS7', line: 3, stack: [{ name: 'Event: x' }] } }],
    });
  });

  it('a quota ends all of it', () => {
    const driven = deliver(`${source('while true\nset a = 1\nendwhile')}${source('emit 2')}`, [null], { limits: { fuel: 1000 } });
    expect(driven).toMatchObject({ ok: false, phase: 'events', emits: [], error: { limit: 'fuel' } });
  });

  it('keeps the errors of earlier handlers when a later one exceeds a limit', () => {
    const { error, eventErrors } = deliver(source('emit 1 / 0'), [1, 2], { limits: { fuel: 40 } });
    expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel' });
    expect(eventErrors).toMatchObject([{ error: { code: 'NS14' } }]);
  });

  it('eventCount: as many as allowed, and one more', () => {
    expect(deliver(source('emit 1'), [1, 2], { limits: { eventCount: 2 } }).error).toBeNull();
    const driven = deliver(source('emit 1'), [1, 2, 3], { limits: { eventCount: 2 } });
    expect(driven).toMatchObject({ emits: ['1', '1'], error: { code: 'ERR_QUOTA', limit: 'eventCount', allowed: 2, used: 3 } });
  });

  it('each handler runs in a fork of its own', () => {
    const driven = deliver(`${source('emit v\nset v = 1')}${source('emit v')}`, [null]);
    expect(driven.emits).toEqual(['nil', 'nil']);
  });

  it('a name may be computed, by tools and procedures, and is text', () => {
    const text = "func name() means\nreturn 4 + 1\nendfunc\non event name() do\nemit 'five'\nendon\n";
    expect(drive(text, { events: [event('5')] }).emits).toEqual(['five']);
  });

  it('an event without handlers does nothing', () => {
    expect(drive(source('emit 1'), { events: [event('other')] })).toMatchObject({ ok: true, emits: [] });
  });
});
