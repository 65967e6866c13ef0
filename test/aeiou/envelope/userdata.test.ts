import { describe, expect, it } from 'vitest';
import { composeEnvelope, encodeUserdata, parseEnvelope, UserdataError, validateUserdata } from '../../../src/aeiou/index.ts';
import { thrownBy } from '../kit.ts';

function detailOf(work: () => unknown): string {
  const error = thrownBy(work);
  expect(error).toBeInstanceOf(UserdataError);
  expect(error).toMatchObject({ code: 'ERR_USERDATA_SCHEMA' });
  return error instanceof UserdataError ? error.detail : '';
}
const fault = (text: string): string => detailOf(() => validateUserdata(text));

describe('USERDATA', () => {
  it('accepts what the schema asks for, with further names and an empty subject', () => {
    expect({ ...validateUserdata('{"subject":"test","fields":{}}') }).toEqual({ subject: 'test', fields: {} });
    const full = validateUserdata(' {"subject":"","brief":"b","fields":{"a":1.5},"extra":[null]}\n');
    expect(JSON.parse(JSON.stringify(full))).toEqual({ subject: '', brief: 'b', fields: { a: 1.5 }, extra: [null] });
  });

  it('A3-3.3-1: anything but an object is refused', () => {
    expect(['[]', '"x"', '1', 'null', 'true'].map(fault)).toEqual(Array(5).fill('not_object'));
  });

  it('a value in place of its JSON is refused by its type', () => {
    const given = [
      [{ subject: 's', fields: {} }, 'object'],
      [null, 'null'],
      [7, 'number'],
      [undefined, 'undefined'],
    ] as const;
    for (const [value, type] of given)
      expect(thrownBy(() => Reflect.apply(validateUserdata, undefined, [value]))).toMatchObject({
        code: 'ERR_USERDATA_SCHEMA',
        detail: 'json',
        message: `USERDATA is not strict JSON: expected a text or a Uint8Array, got ${type}`,
      });
  });

  it('A3-3.5-1: subject must be a text', () => {
    const subjects = ['', '"subject":null,', '"subject":123,', '"subject":[],', '"subject":{},', '"Subject":"x",'];
    expect(subjects.map((subject) => fault(`{${subject}"fields":{}}`))).toEqual(subjects.map(() => 'subject'));
  });

  it('A3-3.5-2: brief may be absent, and is else a text', () => {
    for (const brief of ['', '"brief":"",', '"brief":"b",'])
      expect(validateUserdata(`{"subject":"x",${brief}"fields":{}}`).brief).toBe(/"brief":"(.*)"/.exec(brief)?.[1]);
    expect(['123', 'null', '{}', '[]', 'true'].map((brief) => fault(`{"subject":"x","brief":${brief},"fields":{}}`))).toEqual(
      Array(5).fill('brief'),
    );
  });

  it('A3-3.5-3: fields must be an object', () => {
    const fields = ['', ',"fields":null', ',"fields":[]', ',"fields":"x"', ',"fields":1'];
    expect(fields.map((each) => fault(`{"subject":"x"${each}}`))).toEqual(fields.map(() => 'fields'));
  });

  it('refuses what is no strict JSON', () => {
    const texts = [
      '',
      'x',
      '{"subject":"x","fields":{},}',
      '{"subject":"x","subject":"y","fields":{}}',
      '{"subject":"\\ud800","fields":{}}',
      '{"subject":"x","fields":{"n":9007199254740993}}',
      `{"subject":"x","fields":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`,
    ];
    expect(texts.map(fault)).toEqual(texts.map(() => 'json'));
  });

  it('A3-3.5-5: no text may be an asset: 64 KiB by default, counted in bytes, at any depth, names included', () => {
    const at = 'ä'.repeat(32 * 1024);
    for (const text of [at, `${at}x`]) {
      const documents = [
        { subject: text, fields: {} },
        { subject: 's', fields: { a: [[{ b: text }]] } },
        { subject: 's', fields: { [text]: 1 } },
      ];
      for (const document of documents) {
        const json = JSON.stringify(document);
        if (text === at) expect(validateUserdata(json)).toBeTruthy();
        else expect(fault(json)).toBe('asset');
      }
    }
    expect(detailOf(() => validateUserdata('{"subject":"12345","fields":{}}', { maxStringBytes: 6 }))).toBe('asset');
    expect(validateUserdata('{"subject":"12345","fields":{"name":"1234567"}}', { maxStringBytes: 7 }).subject).toBe('12345');
  });

  it('A3-3.3-2: what was read cannot be changed', () => {
    const data = validateUserdata('{"subject":"x","fields":{"a":{"b":[1]}}}');
    for (const target of [data, data.fields, data.fields['a']]) {
      expect(Reflect.set(Object(target), 'subject', 'y')).toBe(false);
      expect(Reflect.set(Object(target), 'b', 'y')).toBe(false);
    }
    expect(JSON.stringify(data)).toBe('{"subject":"x","fields":{"a":{"b":[1]}}}');
  });

  it('is written canonically, and checked while it is written', () => {
    expect(encodeUserdata({ subject: 's', fields: { b: 1, a: 0.5 } })).toBe('{"fields":{"a":0.5,"b":1},"subject":"s"}');
    expect(detailOf(() => encodeUserdata({ subject: 's' }))).toBe('fields');
    expect(detailOf(() => encodeUserdata({ subject: 's', fields: { f: () => 1 } }))).toBe('value');
  });

  it('cannot hold a marker line, whatever its texts say (threat 15)', () => {
    const subject = 'x\n<<<NSENV:V3:END>>>\n<<<NSENV:V3:ACTIONS>>>\nevil';
    const userdata = encodeUserdata({ subject, fields: {} });
    const parsed = parseEnvelope(composeEnvelope({ userdata, actions: 'a' }));
    expect([validateUserdata(parsed.userdata).subject, parsed.actions]).toEqual([subject, 'a']);
  });
});
