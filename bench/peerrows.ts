import { MONTY, QUICKJS, QUICKJS_PROCESS } from './names.ts';
import { append, CALLS, command, LOOP, lines, TEXT, TURN, type Workload } from './workloads.ts';

/** What `bench peers` measures: a workload, and what is promised of it. */
export interface PeerRow extends Omit<Workload, 'about'> {
  /** The most that our median may be, as a multiple of the peer's in the same run; null where nothing is promised. */
  readonly goal: { readonly peer: string; readonly most: number } | null;
  /** `rested`: a pause comes before each run. `burst`: runs follow each other at once. */
  readonly pace: 'rested' | 'burst';
}

type Body = Pick<PeerRow, 'neuroscript' | 'javascript' | 'python' | 'result'>;

function row(name: string, goal: PeerRow['goal'], body: Body, pace: PeerRow['pace'] = 'burst'): PeerRow {
  const { neuroscript, javascript, python, result } = body;
  return { name, goal, pace, neuroscript, javascript, python, result };
}

const most = (times: number, peer: string): PeerRow['goal'] => ({ peer, most: times });

const DEEP: Body = {
  neuroscript: {
    library: 'func down(needs n returns value) means\n  if n < 1\n    return 0\n  endif\n  return down(n - 1) + 1\nendfunc\n',
    commands: command(
      'set i = 0',
      'set sum = 0',
      'while i < 1000',
      '  set sum = sum + down(30)',
      '  set i = i + 1',
      'endwhile',
      'emit sum',
    ),
  },
  javascript:
    'const down = (n) => (n < 1 ? 0 : down(n - 1) + 1); let sum = 0; for (let i = 0; i < 1000; i++) sum += down(30); return sum',
  python: lines(
    'def down(n):',
    '    if n < 1:',
    '        return 0',
    '    return down(n - 1) + 1',
    'sum = 0',
    'for i in range(1000):',
    '    sum = sum + down(30)',
    'sum',
  ),
  result: 30_000,
};

function mapSet(n: number): Body {
  return {
    neuroscript: {
      commands: command(
        'set m = {}',
        'set i = 0',
        `while i < ${n}`,
        '  set m["k" + i] = i',
        '  set i = i + 1',
        'endwhile',
        'emit len(m)',
      ),
    },
    javascript: `const m = new Map(); for (let i = 0; i < ${n}; i++) m.set("k" + i, i); return m.size`,
    python: lines('m = {}', 'i = 0', `while i < ${n}:`, '    m["k" + str(i)] = i', '    i = i + 1', 'len(m)'),
    result: n,
  };
}

const SORT: Body = {
  neuroscript: {
    commands: command(
      'set t = "delta,alpha,echo,bravo,charlie," * 20000',
      'set l = tool.list.Sort(tool.str.Split(t, ","))',
      'emit len(l) + len(l[50000])',
    ),
  },
  javascript:
    'const t = "delta,alpha,echo,bravo,charlie,".repeat(20000); const l = t.split(",").sort(); return l.length + l[50000].length',
  python: lines('t = "delta,alpha,echo,bravo,charlie," * 20000', 'l = sorted(t.split(","))', 'len(l) + len(l[50000])'),
  // Place 50,000 is the last `charlie` but one in the third fifth, after the one empty text.
  result: 100_001 + 'charlie'.length,
};

const WORDS: Body = {
  neuroscript: {
    commands: command(
      'set t = "the quick brown fox jumps over a lazy dog " * 24000',
      'set counts = {}',
      'for each w in tool.str.SplitWords(t)',
      '  if counts[w] == nil',
      '    set counts[w] = 0',
      '  endif',
      '  set counts[w] = counts[w] + 1',
      'endfor',
      'emit counts["fox"] + len(counts)',
    ),
  },
  javascript: lines(
    'const t = "the quick brown fox jumps over a lazy dog ".repeat(24000);',
    'const counts = {};',
    'for (const w of t.trim().split(" ")) { if (counts[w] === undefined) counts[w] = 0; counts[w] = counts[w] + 1; }',
    'return counts["fox"] + Object.keys(counts).length',
  ),
  python: lines(
    't = "the quick brown fox jumps over a lazy dog " * 24000',
    'counts = {}',
    'for w in t.split():',
    '    if w not in counts:',
    '        counts[w] = 0',
    '    counts[w] = counts[w] + 1',
    'counts["fox"] + len(counts)',
  ),
  result: 24_009,
};

const RECORDS: Body = {
  neuroscript: {
    commands: command(
      'set out = []',
      'set i = 0',
      'while i < 10000',
      '  set r = {"id": i, "name": "user", "score": i * 2}',
      '  if r["score"] > 100',
      '    set out[len(out)] = {"id": r["id"], "label": r["name"] + r["id"], "half": r["score"] / 2}',
      '  endif',
      '  set i = i + 1',
      'endwhile',
      'emit len(out) + out[0]["id"]',
    ),
  },
  javascript: lines(
    'const out = [];',
    'for (let i = 0; i < 10000; i++) {',
    '  const r = {id: i, name: "user", score: i * 2};',
    '  if (r.score > 100) out.push({id: r.id, label: r.name + r.id, half: r.score / 2});',
    '}',
    'return out.length + out[0].id',
  ),
  python: lines(
    'out = []',
    'i = 0',
    'while i < 10000:',
    '    r = {"id": i, "name": "user", "score": i * 2}',
    '    if r["score"] > 100:',
    '        out.append({"id": r["id"], "label": r["name"] + str(r["id"]), "half": r["score"] / 2})',
    '    i = i + 1',
    'len(out) + out[0]["id"]',
  ),
  result: 9_949 + 51,
};

const PATTERN: Body = {
  neuroscript: {
    commands: command(
      'set t = "error 42 in line 7; all is well so far; " * 25000',
      'emit len(tool.regex.FindAll("error [0-9]+", t))',
    ),
  },
  javascript: 'return "error 42 in line 7; all is well so far; ".repeat(25000).match(/error [0-9]+/g).length',
  python: lines('import re', 't = "error 42 in line 7; all is well so far; " * 25000', 'len(re.findall("error [0-9]+", t))'),
  result: 25_000,
};

const PARSED = 5_000;
const PARSE: Body = {
  neuroscript: { commands: command('set x = 0', ...Array<string>(PARSED).fill('set x = x + 1'), 'emit x') },
  javascript: lines('let x = 0;', ...Array<string>(PARSED).fill('x = x + 1;'), 'return x'),
  python: lines('x = 0', ...Array<string>(PARSED).fill('x = x + 1'), 'x'),
  result: PARSED,
};

const STANZAS = 10;
const AGENT: Body = {
  neuroscript: {
    commands: command(
      'set notes = []',
      'set total = 0',
      ...Array.from({ length: STANZAS }, (_, i) => [
        `set found = tool.bench.Echo(${i})`,
        `set note = {"step": ${i}, "found": found}`,
        'if found > 4',
        '  set note["label"] = "late " + found',
        'endif',
        'set notes[len(notes)] = note',
      ]).flat(),
      'for each note in notes',
      '  set total = total + note["found"]',
      'endfor',
      'emit total',
    ),
  },
  javascript: lines(
    'const notes = []; let total = 0, found, note;',
    ...Array.from({ length: STANZAS }, (_, i) => [
      `found = echo(${i});`,
      `note = {step: ${i}, found};`,
      'if (found > 4) {',
      '  note.label = "late " + found;',
      '}',
      'notes.push(note);',
    ]).flat(),
    'for (const note of notes) {',
    '  total = total + note.found;',
    '}',
    'return total',
  ),
  python: lines(
    'notes = []',
    'total = 0',
    ...Array.from({ length: STANZAS }, (_, i) => [
      `found = echo(${i})`,
      `note = {"step": ${i}, "found": found}`,
      'if found > 4:',
      '    note["label"] = "late " + str(found)',
      'notes.append(note)',
    ]).flat(),
    'for note in notes:',
    '    total = total + note["found"]',
    'total',
  ),
  result: (STANZAS * (STANZAS - 1)) / 2,
};

/** The smallest program. */
export const TRIVIAL: PeerRow = row('trivial turn, rested', most(1.5, QUICKJS_PROCESS), TURN, 'rested');

/** The rows of the table. JavaScript and Python call the tool `echo(n)`, which gives back its argument. */
export const PEER_ROWS: readonly PeerRow[] = [
  TRIVIAL,
  row('the same, back to back', most(3, QUICKJS), TURN),
  row('loop 1 M', most(0.5, QUICKJS), LOOP),
  row('fib(25)', most(1, QUICKJS), CALLS),
  row('30 calls deep × 1,000', most(1.5, QUICKJS), DEEP),
  row('append 10 k', most(1, MONTY), append(10_000)),
  row('append 100 k', most(0.6, MONTY), append(100_000)),
  row('map set 10 k', most(0.9, MONTY), mapSet(10_000)),
  row('map set 100 k', most(0.9, MONTY), mapSet(100_000)),
  row('text of 20 k pieces', most(1.2, QUICKJS), TEXT),
  row('split + sort 100 k', most(1, MONTY), SORT),
  row('words of 1 MB', most(0.7, MONTY), WORDS),
  row('10 k records transformed', most(0.7, MONTY), RECORDS),
  row('pattern over 1 MB', most(0.8, QUICKJS), PATTERN),
  row('parse 5 k lines', most(4, QUICKJS), PARSE),
  row('agent script, 60 lines, 10 tools', most(1.5, QUICKJS_PROCESS), AGENT),
];
