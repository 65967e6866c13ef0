import { describe, expect, it } from 'vitest';
import { command, file, problems } from '../help.ts';

/**
 * The rows of language.md 12 that the parser decides, with the profile applied. `P`, `F` and `C` are the modes of
 * that table, ⏎ is a newline; `ok` rows parse here, `error` rows do not.
 */
const rows = String.raw`
006 P error | emit "bad\q"
007 P ok P23 | emit "\77"
008 P ok P23 | emit "\~"
010 P ok | emit 5--2
014 P ok ruling 2 | emit "one \⏎two"
015 P ok | emit len('one \⏎two')
016 P ok P21 | emit 'x' \ ⏎ + 'y'
019 P error | emit 1e400
020 P error | emit .5
021 P error | emit 1.
022 P error | emit 0x10
023 P error | emit 1_000
030 P error | SET x = 1
031 P ok | emit TRUE
032 P error | set log = 1
033 P ok | set Log = 1⏎emit Log
034 P error | emit 'a⏎b'
035 P ok | emit '''a⏎b'''
036 P error P11 | emit [[a⏎b]]
037 P ok | emit {{x}}
038 P ok | emit {{last}}
039 P ok | emit {{@nl}}
041 P error P11 | set x=5⏎emit [[v={{x}}]]
044 P error P11 | emit [[<{{nope}}>]]
045 P error P11 | emit [[a{{@tab}}b{{@sq}}{{@dq}}{{@bt}}]]
048 P error P11 | emit [[open {{never]]
053 P ok P11 | emit [[1,2],[3]]
054 P ok | emit [ [1,2],[3] ]
084 P error | emit 2 ** -1
085 P ok | emit 2 ** (-1)
097 P ok | emit - - 3
125 P error | emit !true
126 P error | emit 1 && 2
132 P ok P10 | set m={'a':1}⏎emit m.a
135 P ok | set m={a:1}⏎emit m
145 P ok | set q[2].a=1⏎emit q
160 P ok P21 | set x = [1,⏎2]
161 P ok P21 | set x = [1,]
162 P ok P10 | set m={}⏎set m.error = 1
164 P error | emit 1, 2
165 P error | let x = 1
166 P error | set x = 1; emit x
167 P ok | emit(1)
168 P ok | set x=1⏎emit last
171 P error | if 1⏎endif
172 P error | if 0⏎emit 1⏎else if 1⏎emit 2⏎endif
186 P error | break
190 P error | must
191 P ok | fail
196 P ok | clear_error
197 P ok P19 | clear event 'x'
198 P ok | clear event named 'x'⏎emit 1
205 P error P16 | on error do⏎emit 'A'⏎clear_error⏎endon⏎on error do⏎emit 'B'⏎clear_error⏎endon⏎fail 'x'
209 P ok | on error do⏎return 1⏎endon⏎fail 'x'
213 P ok | while true⏎on error do⏎break⏎endon⏎fail 'x'⏎endwhile⏎emit 'done'
217 C ok | command⏎on error do⏎emit 'H'⏎clear_error⏎endon⏎fail 'x'⏎emit 'after'⏎endcommand
218 F ok | func f(needs a optional b returns r) means⏎return [a,b]⏎endfunc
219 F ok | func f(optional b needs a) means⏎return [a,b]⏎endfunc
220 F ok | func f needs a returns r means⏎return a⏎endfunc⏎func main means⏎emit f(3)⏎endfunc
231 F error | func a() means⏎emit 1⏎endfunc⏎func a() means⏎emit 2⏎endfunc⏎func main() means⏎emit 3⏎endfunc
232 F ok | func is_string() means⏎return 'mine'⏎endfunc
234 F error | func main() means⏎endfunc
235 F error | func main()⏎emit 1⏎endfunc
240 C ok | command⏎emit 1⏎endcommand⏎command⏎emit 2⏎endcommand
242 C error | command⏎endcommand
243 C error | command⏎return 1⏎endcommand
244 C error ruling 9 | command⏎if true⏎return 1⏎endif⏎endcommand
245 C error | command⏎emit 1⏎endcommand⏎func f() means⏎emit 2⏎endfunc
246 C error | emit 1
247 C ok | # only a comment
249 C error | command⏎on event 'x' do⏎emit 1⏎endon⏎endcommand
250 F ok P10 | on event 'x' as e do⏎emit e['payload'][0]['Payload'].a⏎endon
253 F ok P16 | on event 'x' do⏎on error do⏎emit 1⏎endon⏎fail 'q'⏎endon
255 F ok | func main() means⏎on event 'x' do⏎emit 'nested'⏎endon⏎emit 'body'⏎endfunc
257 F error | on event 'x' as e named 'n' do⏎emit 1⏎endon
260 P ok | emit LEN('ab')
287 P ok P10 | emit tool.error.New('a')
`
  .trim()
  .split('\n')
  .map((row) => {
    const [head = '', snippet = ''] = row.split(' | ');
    const [number = '', mode = '', verdict = ''] = head.split(' ');
    const lines = snippet.replaceAll('⏎', '\n');
    const body = mode === 'P' ? `func main() means\n${lines}\nendfunc\n` : lines;
    return { title: `12-${number}: ${snippet}`, source: body, verdict, hasLines: body.split('\n').length };
  });

describe('the differential table of the reference', () => {
  it.each(rows.filter((row) => row.verdict === 'ok'))('$title parses', ({ source }) => {
    expect(problems(source)).toEqual([]);
  });

  it.each(rows.filter((row) => row.verdict === 'error'))('$title does not', ({ source, hasLines }) => {
    const found = problems(source);
    expect(found.length).toBeGreaterThan(0);
    for (const { at } of found) expect(Number(at.split(':')[0])).toBeLessThanOrEqual(hasLines);
  });

  it('12-172: the position of the error is the `if` of `else if`', () => {
    expect(problems(command('if 0', 'emit 1', 'else if 1', 'emit 2', 'endif'))).toMatchObject([{ at: '4:6' }]);
  });

  it('12-045: with the header the same text is a template', () => {
    expect(
      file(`:: strings: double-bracket\n${command('emit [[a{{@tab}}b{{@sq}}{{@dq}}{{@bt}}]]')}`).commands[0]?.body.stmts,
    ).toMatchObject([{ value: { k: 'str', v: 'a\tb\'"`' } }]);
  });
});
