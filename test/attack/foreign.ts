import { z } from 'zod';
import {
  canonicalize,
  carryForward,
  composeEnvelope,
  decodeToken,
  extractEnvelope,
  generateKeys,
  keyringFrom,
  normalizeStream,
  parseEnvelope,
  parseKeys,
  parseStrict,
  progressDigest,
  selectDecision,
  validateUserdata,
} from '../../src/aeiou/index.ts';
import { readCases } from '../../src/cli/cases/read.ts';
import { isMonstrous } from '../../src/files/json.ts';
import { LineSplitter } from '../../src/files/lines.ts';
import { ValueMeter } from '../../src/files/valuemeter.ts';
import { parseRecord } from '../../src/gate/record.ts';
import { parseVerifier } from '../../src/gate/verifier.ts';
import { messageLine } from '../../src/loop/agents/failure.ts';
import { ChainWalk, Redaction, readExport, splitTranscript } from '../../src/loop/index.ts';
import { redactKey } from '../../src/loop/replay/redactkey.ts';
import { readRecord, readStarted, readState, readWaiting } from '../../src/loop/sessions/rows.ts';
import { parseControl, scanMarkers } from '../../src/loop/v1/control.ts';
import { readV1Reply } from '../../src/loop/v1/envelope.ts';
import { secretHook } from '../../src/loop/v1/secrets.ts';
import { plansOf } from '../../src/loop/v1/session.ts';
import { outputCheck, partOf, scriptValue } from '../../src/mcp/answer.ts';
import { problemOfAuth } from '../../src/mcp/auth/config.ts';
import { Secrets } from '../../src/mcp/auth/secrets.ts';
import { parseMcpSpec, readMcpConfig } from '../../src/mcp/index.ts';
import { refusal } from '../../src/mcp/server/intake.ts';
import { readProgram } from '../../src/mcp/server/programs.ts';
import { boundedSchema, plainWords } from '../../src/mcp/serverschema.ts';
import { readTask, taskIdIn } from '../../src/mcp/tasks.ts';
import { MOST_VALUES } from '../../src/mcp/values.ts';
import { isPostgresUrl, placeOf } from '../../src/postgres/index.ts';
import { formatReceipt, generateReceiptKey, readCheckpoint, readReceipt } from '../../src/receipt/index.ts';
import { requestFromJson } from '../../src/runtime/line.ts';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import { firstSentence, oneLine } from '../../src/tools/catalogue/lines.ts';
import { checkedGrant, defineTool, loadGrant, schemaWords, toolGrammar } from '../../src/tools/index.ts';
import { loadMockTools } from '../../src/tools/mock/file.ts';
import { isSecretName, withoutSecrets } from '../../src/tools/mock/secrets.ts';
import { checkToolName } from '../../src/tools/names.ts';
import { loadPolicy } from '../../src/tools/policy/policy.ts';
import { YamlFile } from '../../src/tools/yaml.ts';
import { FrameReader, parseFrames } from '../../src/wire/frames.ts';
import { retryAfterMs } from '../../src/wire/retryafter.ts';
import { clip, columns, printable, printableLines, wrap } from '../../src/wire/text/printable.ts';
import { safeName } from '../../stdlib-tools/fs/path.ts';

/** A reader of data that the host has not made. It may refuse its text with any error. */
export interface ForeignReader {
  readonly name: string;
  readonly read: (text: string) => unknown;
  /** Pieces that begin what this reader looks for, in addition to {@link PIECES}. */
  readonly pieces?: readonly string[];
  /** Most UTF-16 units that it takes. */
  readonly most?: number;
  /** It takes so long for each unit that this part of the units, a half or a quarter, shows quadratic time. */
  readonly heavy?: 2 | 4;
  /** Read by a command, or before a host begins to serve, and never beside a turn: the event loop may stand still meanwhile. */
  readonly alone?: true;
}

const MB = 2 ** 20;
const LINE_BYTES = 64 * 1024;
/** Bytes that a slow sender sends at once. */
const PART = 512;
const at = {
  sessionId: 's',
  turnIndex: 1,
  turnNonce: 'n'.repeat(22),
  now: 1,
  keys: keyringFrom(generateKeys('k'), { clock: { now: () => 1 } }),
};
const receiptKey = generateReceiptKey('r');
const manifest = {
  format: 'neuroscript-receipt',
  version: 1,
  kid: 'r',
  issuedAt: 1,
  engine: '1',
  sid: 's',
  status: 'open',
  reason: null,
  turns: [],
  parts: {},
} as const;

const redaction = new Redaction({ keys: ['password'], values: ['secret text'] });
const screen = secretHook({ KEY: 'secret text' }, { redact: true });
const json = ['{"a":', '{"a":1,"', '["', '1,', '{},', '"\\u0061', '{"$num":"'];
const yaml = [
  '{? ',
  'a:\n',
  '- ',
  '- - ',
  '? ',
  '&a ',
  '*a ',
  '!!t ',
  '| \n',
  '> \n',
  '"\\x',
  "'",
  '# ',
  '{a: ',
  '%',
  '--- ',
  'a: *b\n',
  '<<: ',
];
const envelope = ['<<<NSENV:V3:', '<<<NSENV:V3:START>>>\n', '<<<NSENV:V3:USERDATA>>>\n', '<<<', '<<<NSENV:V3:END>>>\n'];
const token = ['<<<NSMAG:V3:', '<<<NSMAG:V3:HOST:', '<<<NSMAG:V3:HOST:e30.AAAA>>>\n', '<<<NSMAG:'];
const marker = ['### ', '### PLAN\n', '### CONTROL: ', 'LOOP: ', '<<<LOOP:', '[[loop:', 'LOOP:{"control":"continue"}\n'];

export const READERS: readonly ForeignReader[] = [
  { name: 'an envelope in a reply', read: extractEnvelope, pieces: envelope, most: MB / 2 },
  { name: 'an envelope', read: (text) => parseEnvelope(Buffer.from(text)), pieces: envelope, most: MB / 2 },
  { name: 'a stream that an envelope carries on', read: carryForward, pieces: envelope },
  { name: 'USERDATA', read: (text) => validateUserdata(text), pieces: json, most: MB / 4 },
  { name: 'USERDATA to send', read: (text) => composeEnvelope({ userdata: text, actions: '' }), pieces: envelope, most: MB / 4 },
  { name: 'a token', read: decodeToken, pieces: token },
  { name: 'a decision in OUTPUT', read: (text) => selectDecision(text, at), pieces: token },
  { name: 'OUTPUT that is compared', read: normalizeStream, pieces: [' \n', '\t', '2025-10-15T08:00:00Z ', '0x1', 'a\r'] },
  { name: 'OUTPUT that is digested', read: (text) => progressDigest(text, text), pieces: [' \n', '\t'] },
  { name: 'strict JSON', read: (text) => parseStrict(text, { numbers: 'integers', padding: true }), pieces: json },
  { name: 'canonical JSON', read: (text) => canonicalize(text), pieces: json },
  { name: 'a file of keys', alone: true, read: parseKeys, pieces: json, most: MB / 2 },
  { name: 'an export of sessions', alone: true, read: readExport, pieces: json },
  { name: 'the state of a session', read: (text) => readState(text, 's'), pieces: json },
  { name: 'a started turn', read: (text) => readStarted(text, 's', 1), pieces: json },
  { name: 'a turn that waits', read: (text) => readWaiting(text, 's'), pieces: json },
  { name: 'the record of a turn', read: (text) => readRecord(text), pieces: json },
  { name: 'the lines of a log', alone: true, read: lines, pieces: ['{"prev":"', '{}\n'] },
  { name: 'bytes in pieces', read: pieces, pieces: ['\n'] },
  { name: 'the frames of a worker', read: frames },
  {
    name: 'a frame of a worker',
    read: (text) => parseFrames(text).map(readWorkerFrame),
    pieces: [...json, '{"t":"out","emits":["'],
  },
  { name: 'a request', read: requestFromJson, pieces: json },
  {
    name: 'a key of a redaction',
    read: (text) => redactKey(text, 'password', 'x'),
    pieces: ['"password":', '\\"password\\":{', '"password":"', '"password": [', '\\\\'],
  },
  { name: 'a redaction', read: (text) => redaction.clean(text), pieces: ['"password":', 'secret tex', '{"password":"'] },
  { name: 'a transcript', alone: true, read: splitTranscript, pieces: ['---\n', '=== ', '--- '] },
  { name: 'a reply of version 1', read: readV1Reply, pieces: [...marker, ...envelope], most: MB / 2 },
  { name: 'markers of version 1', read: scanMarkers, pieces: marker },
  { name: 'control of version 1', read: parseControl, pieces: marker },
  { name: 'plans of version 1', read: plansOf, pieces: [...json, '```json\n', '```'] },
  { name: 'secrets in OUTPUT', read: screen, pieces: ['secret tex', 'secret text'] },
  { name: 'YAML', alone: true, read: (text) => new YamlFile(text, 'f'), pieces: yaml, most: MB / 32, heavy: 2 },
  {
    name: 'a file of mocks',
    alone: true,
    read: (text) => loadMockTools(text, 'f'),
    pieces: ['tool.a.B: 1\n', 'cases:\n'],
    most: MB / 32,
    heavy: 4,
  },
  {
    name: 'a policy',
    alone: true,
    read: (text) => loadPolicy(text, 'f'),
    pieces: ['allow: [', 'allow:\n- '],
    most: MB / 32,
    heavy: 4,
  },
  {
    name: 'servers of MCP',
    alone: true,
    read: (text) => readMcpConfig(text, 'f', {}),
    pieces: ['mcpServers:\n', 'a: {env: '],
    most: MB / 32,
    heavy: 4,
  },
  { name: 'a server of MCP', alone: true, read: parseMcpSpec, pieces: ['a=', 'a=b ', 'a="', 'https://'] },
  {
    name: 'the schema of a server',
    read: (text) => boundedSchema({ type: 'object', description: text, properties: { [text]: { pattern: text } } }),
  },
  { name: 'a schema of many parts', read: (text) => boundedSchema(manyParts(text)), most: MB / 32, heavy: 4 },
  { name: 'the tools of a server', read: (text) => schemaWords(boundedSchema(manyParts(text))), most: MB / 64 },
  {
    name: 'a part of an answer',
    read: (text) => [partOf({ type: 'text', text }, 'part'), partOf({ type: 'image', data: text }, 'part')],
  },
  {
    name: 'an error of a server',
    read: (text) => scriptValue({ isError: true, content: [{ type: 'text', text }], structured: undefined }, outputCheck({})),
  },
  {
    name: 'a structured answer',
    read: async (text) => outputCheck(manyParts(text))({ [text]: text.split('') }),
    most: MB / 512,
    heavy: 2,
  },
  {
    name: 'an answer that must be one of many',
    read: (text) => outputCheck({ type: 'array', items: { enum: numbers(text) } })(numbers(text)),
    most: MB / 512,
  },
  {
    name: 'an answer with many choices',
    read: (text) => outputCheck({ type: 'array', items: { anyOf: parts(text).map((each) => ({ const: each })) } })(numbers(text)),
    most: MB / 512,
  },
  { name: 'a schema whose types are repeated', read: (text) => outputCheck(repeated(text, 3)), most: 64 },
  { name: 'a task of a server', read: (text) => [readTask({ taskId: text, status: text, statusMessage: text }), taskIdIn(text)] },
  { name: 'the values of a message', read: (text) => new ValueMeter(true, MOST_VALUES).take(Buffer.from(text)), pieces: json },
  { name: 'a message of a client', read: refusal, pieces: json },
  { name: 'a program that waits for a client', read: readProgram, pieces: json },
  {
    name: 'secrets in the message of a login',
    read: (text) => {
      const secrets = new Secrets([
        `b${text.slice(0, text.length / 2)}`,
        `${text.slice(0, text.length / 2)}b`,
        text.slice(0, 16),
      ]);
      return [secrets.clean(text), secrets.isIn(new Error(text))];
    },
  },
  {
    name: 'the address of a login',
    read: (text) => problemOfAuth({ issuer: text }, text, { [text]: text }),
    pieces: ['https://'],
  },
  {
    name: 'the address of a store',
    read: (text) => isPostgresUrl(text) && placeOf(text),
    pieces: ['postgres://', '%41', '@', '?'],
  },
  { name: 'the error of a model server', read: (text) => messageLine(new Error(text), (said) => said), pieces: [' \n'] },
  { name: 'when a model server wants to be asked again', read: (text) => retryAfterMs(text), pieces: ['1', 'Mon, '] },
  { name: 'the words of a server', read: plainWords, pieces: ['\u001b[', '\u202e', '`', '<!--'] },
  { name: 'a record of the gate', alone: true, read: parseRecord, pieces: ['{"id":"', '-'], most: MB / 2 },
  { name: 'a verifier of the gate', alone: true, read: parseVerifier, pieces: ['"', "'", '\\ ', 'a '] },
  { name: 'a text for a terminal', read: printable, pieces: ['\u001b[', '\u009b', '\u202e'] },
  { name: 'lines for a terminal', read: printableLines, pieces: ['\u001b[', '\r'] },
  { name: 'a text that is cut', read: (text) => clip(text, 80), pieces: ['\u0301', '👩‍👩‍👧'] },
  { name: 'the width of a text', read: columns, pieces: ['👩‍👩‍👧', '\u200d'] },
  { name: 'a text in lines', read: (text) => wrap(text, 80), pieces: ['a ', 'a-', '👩‍👩‍👧'] },
  { name: 'a sentence', read: firstSentence, pieces: ['. ', '.', '! '] },
  { name: 'a text in a line', read: oneLine, pieces: [' \n', '\t '] },
  { name: 'the name of a tool', read: checkToolName, pieces: ['tool.', 'a.', '_'] },
  { name: 'the name of a file', read: safeName, pieces: ['a.', '?', '..'] },
  {
    name: 'the secrets of a recording',
    alone: true,
    read: (text) => withoutSecrets(text),
    pieces: ['eyJ-', 'eyJabcde-.', 'sk-a-', 'a.', 'a://a:', '-----BEGIN A PRIVATE KEY'],
  },
  {
    name: 'a receipt',
    alone: true,
    read: readReceipt,
    pieces: ['{"manifest":{"turns":[', '{"turn":1},', '"parts":{"a":{"json":"'],
    most: MB / 2,
  },
  {
    name: 'a part of a receipt',
    alone: true,
    read: (text) => readReceipt(formatReceipt({ manifest, signature: 's', parts: { a: { salt: 's', json: text } } })),
    pieces: json,
  },
  { name: 'a checkpoint', alone: true, read: (text) => readCheckpoint(text, receiptKey), pieces: ['{"statement":{', ...json] },
  { name: 'a grant', alone: true, read: (text) => isMonstrous(text) || loadGrant(text, 'grant.yaml'), pieces: json },
  {
    name: 'a grant with many calls',
    alone: true,
    read: (text) =>
      checkedGrant('g', {
        version: 1,
        programs: [],
        calls: text.split(',').map((at, index) => ({ number: index + 1, tool: 'ask', at })),
      }),
    pieces: ['tool.a.b,'],
    most: MB / 16,
  },
  {
    name: 'a file of test cases',
    alone: true,
    read: (text) => readCases('f', text),
    pieces: ['#: a\n', '---\n', '---\n#: a\n', '#: a\n#=> a\n', '#!! NS1\n', '#: global a=1\n', '#: run f\n', 'emit 1 #=> 1\n'],
    most: MB / 8,
  },
  {
    name: 'the tools of a grammar',
    alone: true,
    read: (text) =>
      toolGrammar([
        ...parts(text).map((_, index) => defineTool({ name: `tool.a.b${index}`, run: () => null })),
        defineTool({ name: 'tool.a.choice', args: z.object({ choice: z.enum(parts(text)) }), run: () => null }),
      ]),
    most: MB / 1024,
  },
  { name: 'the names of a recording', alone: true, read: isSecretName, pieces: ['_aB', '__'] },
];

/** Pieces for every reader. A text is one of them, again and again, with an end that does not fit. */
export const PIECES: readonly string[] = [
  'a',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '[',
  '{"a":',
  '"',
  '\\',
  '\\"',
  '.',
  '-',
  '_',
  '<',
  '>',
  ':',
  '#',
  ',',
  '0',
  'é',
  '\u0301',
  '👩',
  '/',
  '=',
  'a b',
  '\0',
];

/** Units of the largest text of a reader that names no size. */
export const UNITS = MB / 8;

/** A text of about so many units that ends with what does not fit. */
export function adversarial(piece: string, units: number): string {
  return `${piece.repeat(Math.ceil(units / piece.length))}!`;
}

function lines(text: string): void {
  const walk = new ChainWalk();
  for (let start = 0; start < text.length; start += LINE_BYTES) walk.next(text.slice(start, start + LINE_BYTES));
}

/** Different texts, one for each pair of units. */
function parts(text: string): string[] {
  return Array.from({ length: text.length / 2 }, (_, index) => `${text.slice(2 * index, 2 * index + 2)}${index}`);
}

/** A number for each unit. */
function numbers(text: string): number[] {
  return Array.from(text, (_, index) => index);
}

/** A schema of maps in maps, whose types name maps once for each unit. */
function repeated(text: string, depth: number): object {
  return { type: Array.from(text, () => 'object'), properties: depth === 0 ? {} : { a: repeated(text, depth - 1) } };
}

/** A schema with a required property for each pair of units. */
function manyParts(text: string): object {
  const names = parts(text);
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required: names };
}

/** Reads the bytes of a text as they come from a slow sender. */
function pieces(text: string): void {
  const splitter = new LineSplitter(8 * MB);
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += PART) for (const _ of splitter.push(bytes.subarray(start, start + PART)));
}

function frames(text: string): void {
  const reader = new FrameReader(8 * MB);
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  reader.push(head);
  for (let start = 0; start < bytes.length; start += PART) {
    reader.push(bytes.subarray(start, start + PART));
    reader.next();
  }
}
