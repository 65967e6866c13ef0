// Canonical JSON of the token profile.
import { error, ok } from './shared.mjs';

const ANY = error('any');
export const canonical = [
  [
    'J4-sample',
    'names by UTF-16 units',
    '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}',
  ],
  ['J4-depth', 'at every depth', '{"b":{"z":1,"a":[{"d":1,"c":2}]},"a":{}}', '{"a":{},"b":{"a":[{"c":2,"d":1}],"z":1}}'],
  ['J4-utf16', 'U+1F600 before U+E000', '{"\\ue000":1,"\\ud83d\\ude00":2}', '{"\u{1f600}":2,"\ue000":1}'],
  ['J2-short', 'short escapes', '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c"', '"\\b\\t\\n\\f\\r\\"\\\\"'],
  ['J2-long', 'other controls in lower case', '"\\u0000\\u001F"', '"\\u0000\\u001f"'],
  ['J2-literal', 'everything else is literal', '"\\/\\u003c\\u0026\\u007f\\u2028\\u00E9"', '"/<&\u007f\u2028é"'],
  ['J1-apart', 'a decomposed letter stays so', '"A\\u030a"', '"A\u030a"'],
  ['J1-composed', 'a composed one too', '"\\u00c5"', '"Å"'],
  [
    'J3-extremes',
    'the largest integers',
    '[0,1,-1,9007199254740991,-9007199254740991]',
    '[0,1,-1,9007199254740991,-9007199254740991]',
  ],
  ['J-proto', '__proto__ is a name', '{"__proto__":{"b":1,"a":2}}', '{"__proto__":{"a":2,"b":1}}'],
  ['J-spaces', 'white space inside goes', '[1 , {"a" : null}]', '[1,{"a":null}]'],
].map(([id, about, bytes, text]) => ({ id, about, requirements: ['A3-6.3-1'], input: { bytes }, expect: ok({ text }) }));
export const refused = [
  ['J3-plus', '2^53', '9007199254740992'],
  ['J3-minus', '-2^53', '-9007199254740992'],
  ['J3-int64', '2^63-1', '9223372036854775807'],
  ['J5-fraction', 'a fraction', '1.5'],
  ['J5-whole', 'a fraction that is whole', '1.0'],
  ['J5-exponent', 'an exponent', '1e2'],
  ['J-zero', 'a leading zero', '01'],
  ['J-plus', 'a plus sign', '+1'],
  ['J-hex', 'hexadecimal', '0x1'],
  ['J-twice', 'a name twice', '{"a":1,"a":2}'],
  ['J-twice-escaped', 'a name twice, once escaped', '{"a":1,"\\u0061":2}'],
  ['J-surrogate', 'a lone surrogate', '"\\ud800"'],
  ['J-surrogate-name', 'a lone surrogate in a name', '{"\\udc00":1}'],
  ['J-comma', 'a trailing comma', '[1,]'],
  ['J-comment', 'a comment', '[1/**/]'],
  ['J-bom', 'a byte order mark', '\ufeff1'],
  ['J-two', 'two documents', '1 2'],
  ['J-control', 'a raw control character', '"\u0001"'],
  ['J-utf8', 'no UTF-8', ['"', { hex: 'ff' }, '"']],
  [
    'J-deep',
    '33 containers',
    [
      { repeat: '[', times: 33 },
      { repeat: ']', times: 33 },
    ],
  ],
].map(([id, about, bytes]) => ({ id, about, requirements: ['A3-13-J5'], input: { bytes }, expect: ANY }));
