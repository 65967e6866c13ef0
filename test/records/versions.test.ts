import { describe, expect, it } from 'vitest';
import { formatKeys, parseKeys } from '../../src/aeiou/index.ts';
import { readExport } from '../../src/loop/index.ts';
import { readRecord } from '../../src/loop/sessions/rows.ts';
import {
  formatCheckpoint,
  formatReceiptKey,
  generateReceiptKey,
  issueCheckpoint,
  parseReceiptKey,
  readCheckpoint,
  readReceipt,
} from '../../src/receipt/index.ts';
import { checkedGrant } from '../../src/tools/index.ts';
import { DATA_FUEL, STEP_FUEL } from '../../src/wire/costs.ts';
import { STORED_VERSION } from '../../src/wire/forms.ts';
import { productFiles } from '../architecture/imports.ts';

const KEY = generateReceiptKey('auditor');
const HASH = '0'.repeat(64);
const CHECKPOINT = issueCheckpoint({ ok: true, lines: 0, head: HASH }, HASH, KEY, 0);

/** A later version of the text of something that is stored. */
const later = (text: string): string =>
  text.replace(`"version": ${STORED_VERSION}`, '"version": 2').replace('"version":1', '"version":2');

describe('one version of everything that is stored', () => {
  it.each<[string, () => unknown]>([
    ['the record', () => readRecord(JSON.stringify({ version: 2 }))],
    ['the file', () => readExport('{"format":"neuroscript-sessions","version":2,"sessions":[]}')],
    ['the key file', () => parseKeys(later(formatKeys([])))],
    ['the receipt', () => readReceipt('{"manifest":{"format":"neuroscript-receipt","version":2}}')],
    ['the key file', () => parseReceiptKey(later(formatReceiptKey(KEY)))],
    ['the checkpoint', () => readCheckpoint(later(formatCheckpoint(CHECKPOINT)), KEY)],
    ['the grant', () => checkedGrant('the grant', { version: 2 })],
  ])('%s of another version is refused with words that say what to do', (what, read) => {
    expect(read).toThrow(
      `${what} has version 2; this release of neuroscript-runtime reads version 1. Use the release that wrote it`,
    );
  });

  it('no reader knows a version of its own', () => {
    const own = productFiles().filter(({ text }) => /\bversion: z\.(?:literal\((?!STORED_VERSION)|int|number)/.test(text));
    expect(own.map(({ path }) => path)).toEqual([]);
  });
});

it('each kind of work has one price', () => {
  expect(Object.keys(STEP_FUEL).filter((kind) => Object.hasOwn(DATA_FUEL, kind))).toEqual([]);
});
