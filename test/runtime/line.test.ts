import { describe, expect, it } from 'vitest';
import { requestFromJson } from '../../src/runtime/line.ts';
import { LIMITS } from '../../src/wire/limits.ts';

const refused = (line: string): { id: unknown; message: string } => {
  const outcome = requestFromJson(line);
  if (outcome.ok) throw new Error(`accepted: ${line}`);
  expect(outcome.error).toMatchObject({ kind: 'usage', code: 'ERR_USAGE', nsCode: null, name: 'Usage', stack: [] });
  return { id: outcome.id, message: outcome.error.message };
};

describe('a request line', () => {
  it('with everything in it', () => {
    const line = {
      id: 'r1',
      src: 'emit 1',
      lib: ['a', 'b'],
      call: 'main',
      args: [1, { $num: 'NaN' }],
      globals: { k: { $bytes: 'AA==' } },
      events: [
        { name: 'tick', source: 'clock', payload: { a: 1 } },
        { name: 'tock', id: 'e-2', ts: 5 },
      ],
      limits: { fuel: 5, wallMs: 10 },
    };
    const { ok, ...rest } = requestFromJson(JSON.stringify(line));
    expect(ok).toBe(true);
    expect(rest).toEqual({
      request: {
        ...line,
        call: { name: 'main', args: line.args },
        args: undefined,
        events: [line.events[0], { name: 'tock', source: '', payload: null, id: 'e-2', ts: 5 }],
      },
    });
  });

  it('with as little as possible', () => {
    expect(requestFromJson('{"src":""}')).toEqual({
      ok: true,
      request: { id: null, src: '', lib: [], call: null, globals: {}, events: [], limits: {} },
    });
    expect(requestFromJson('{"id":7,"src":"","lib":"x"}')).toMatchObject({ request: { id: 7, lib: ['x'] } });
  });

  it.each([
    ['', /not JSON/],
    ['{"src":"a"', /not JSON/],
    ['[]', /^the request: must be a map, got a list$/],
    ['null', /^the request: must be a map, got nothing$/],
    ['{}', /^src: is missing$/],
    ['{"src":1}', /^src: must be a text, got the number 1$/],
    ['{"id":1e400,"src":""}', /^id: must be a text, a number or null, got the number Infinity$/],
    ['{"src":"","sources":[]}', /^sources: unknown key; known are id, src, lib/],
    ['{"src":"","lib":[1]}', /^lib\[0\]: must be a text/],
    ['{"src":"","lib":{}}', /^lib: must be a text or a list, got a map$/],
    ['{"src":"","args":[]}', /'args' needs 'call'/],
    ['{"src":"","call":"f","args":{}}', /^args: must be a list, got a map$/],
    ['{"src":"","call":"f","args":[{"$x":1}]}', /args\[0\]: '\$x' is not a known tag/],
    ['{"src":"","globals":{"a b":1}}', /^globals\.a b: 'a b' is not a variable name/],
    ['{"src":"","globals":{"if":1}}', /^globals\.if: 'if' is a word of the language, not a variable name/],
    ['{"src":"","globals":{"None":1}}', /'None' is a word of the language/],
    ['{"src":"","globals":{"a":{"$num":1}}}', /globals\.a: /],
    ['{"src":"","events":[{"source":"x"}]}', /^events\[0\]\.name: is missing$/],
    ['{"src":"","events":[{"name":"x","ts":-1}]}', /^events\[0\]\.ts: must be at least 0, got -1$/],
    ['{"src":"","events":[{"name":"x","id":1}]}', /events\[0\]\.id/],
    ['{"src":"","events":[{"name":"x","at":1}]}', /^events\[0\]\.at: unknown key; known are name, source/],
    ['{"src":"","limits":{"cpu":1}}', /^limits\.cpu: unknown key; known are fuel, cpuMs/],
    ['{"src":"","limits":{"queueLength":1}}', /^limits\.queueLength: unknown key/],
    ['{"src":"","limits":{"fuel":"1"}}', /^limits\.fuel: must be a number, got a text$/],
    ['{"src":"","id":{}}', /^id: must be a text, a number or null, got a map$/],
  ])('refuses %s', (line, problem) => {
    expect(refused(line)).toEqual({ id: null, message: expect.stringMatching(problem) });
  });

  it('keeps the id of a line that is wrong elsewhere', () => {
    expect(refused('{"id":4,"src":1}').id).toBe(4);
    expect(refused('{"id":5,"src":"","limit":{}}').id).toBe(5);
    expect(refused('{"id":"x","src":"","limits":{"a":1}}').id).toBe('x');
  });

  it('the limits of a request are those of the table', () => {
    for (const { key } of LIMITS) {
      const read = requestFromJson(JSON.stringify({ src: '', limits: { [key]: 7 } }));
      expect(read).toMatchObject({ ok: true, request: { limits: { [key]: 7 } } });
    }
  });
});
