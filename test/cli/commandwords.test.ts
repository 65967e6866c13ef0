import { expect, it } from 'vitest';
import type { AnswerForm } from '../../src/wire/journal.ts';
import { answerSample, shellWord } from '../../src/wire/text/commandwords.ts';

it.each<readonly [form: AnswerForm | null, word: string]>([
  ['truth', 'true'],
  ['number', 'NUMBER'],
  ['text', `'"TEXT"'`],
  [{ choices: ["Ada's", 'Bob'] }, `'"Ada'\\''s"'`],
  [null, 'JSON'],
])('issue 49: the command that answers a call of the form %j has %s in its place', (form, word) => {
  expect(shellWord(answerSample(form))).toBe(word);
});

it('a word of a command is quoted where a shell would read it otherwise', () => {
  expect(['a-b/c.d:1', '', 'a b', '$x'].map(shellWord)).toEqual(['a-b/c.d:1', "''", "'a b'", "'$x'"]);
});
