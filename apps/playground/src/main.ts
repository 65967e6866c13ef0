import { format } from '../../../grammar/index.ts';
import type { PageResult } from '../../../src/browser/index.ts';
import { inspect } from './artefact.ts';
import { createEditor, type Known, markFailure } from './editor.ts';
import { EXAMPLES } from './examples.ts';
import { type Job, type Outcome, readAnswers } from './messages.ts';
import { fromFragment, type Shared, toFragment } from './share.ts';

/** Most characters of output that the page shows. */
const MAX_SHOWN = 200_000;

const element = <Kind extends Element>(id: string, kind: abstract new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`the page has no #${id}`);
  return found;
};
const output = element('output', HTMLPreElement);
const calls = element('calls', HTMLOListElement);
const usage = element('usage', HTMLDListElement);
const status = element('status', HTMLSpanElement);
const runButton = element('run', HTMLButtonElement);
const stopButton = element('stop', HTMLButtonElement);
const toolsText = element('tools', HTMLTextAreaElement);
const exampleList = element('example', HTMLSelectElement);

const known: Known = { tools: [] };
const results = element('results', HTMLElement);
const editor = createEditor(element('editor', HTMLDivElement), known, { run, changed });
let worker: Worker | null = null;

/** What the results say is of another program. */
function changed(): void {
  setStale(output.textContent !== '');
}

function setStale(isStale: boolean): void {
  results.classList.toggle('is-stale', isStale);
  element('stale', HTMLParagraphElement).hidden = !isStale;
}

function run(): void {
  stop('');
  let job: Job;
  try {
    const answers = readTools();
    const limits = { fuel: amount('fuel'), memoryBytes: amount('memory') };
    job = { source: editor.state.doc.toString(), answers, limits };
  } catch (error) {
    show([['error', messageOf(error)]]);
    return;
  }
  const started = new Worker(new URL('./engine.ts', import.meta.url), { type: 'module' });
  worker = started;
  stopButton.disabled = false;
  status.textContent = 'running…';
  started.onmessage = ({ data }: MessageEvent<Outcome>) => {
    stop('');
    if ('failure' in data) show([['error', data.failure]]);
    else showResult(data.result, job.source);
  };
  started.onerror = ({ message }) => {
    stop('');
    show([['error', `the interpreter failed: ${message}`]]);
  };
  started.postMessage(job);
}

/** Ends the program that runs, if there is one. */
function stop(message: string): void {
  worker?.terminate();
  worker = null;
  stopButton.disabled = true;
  status.textContent = message;
}

function readTools() {
  const answers = readAnswers(toolsText.value);
  known.tools = Object.keys(answers);
  return answers;
}

function amount(id: 'fuel' | 'memory'): number {
  return element(id, HTMLInputElement).valueAsNumber;
}

type Line = readonly [kind: 'emit' | 'whisper' | 'error' | 'value' | 'none', text: string];

function showResult(
  { emits, whispers, error, diagnostics, eventErrors, calls: made, usage: used, result }: PageResult,
  source: string,
): void {
  const problems = diagnostics.length > 0 ? diagnostics : error === null ? [] : [error];
  const isCurrent = editor.state.doc.toString() === source;
  markFailure(editor, isCurrent ? (problems[0]?.line ?? null) : null);
  const lines = [
    ...emits.map((text): Line => ['emit', text]),
    ...whispers.map(({ to, text }): Line => ['whisper', `whisper to ${to}: ${text}`]),
    ...(result === null ? [] : [['value', `returns ${JSON.stringify(result)}`] as const]),
    ...eventErrors.map(({ error: failed }): Line => ['error', failed.message]),
    ...problems.map(({ message, line }): Line => ['error', line === null ? message : `line ${line}: ${message}`]),
    ...(error === null || diagnostics.length > 0 ? [] : [['error', `code ${error.code}`] as const]),
  ];
  show(lines.length === 0 ? [['none', 'The program says nothing.']] : lines);
  calls.replaceChildren(
    ...made.slice(0, 500).map(({ tool, args, result: answer, error: failed }) => {
      const item = document.createElement('li');
      const said = failed === null ? `→ ${JSON.stringify(answer)}` : `failed: ${failed.message} (NS${failed.code})`;
      item.textContent = `${tool}(${args.map((arg) => JSON.stringify(arg)).join(', ')}) ${said}`.slice(0, 2000);
      return item;
    }),
  );
  setStale(!isCurrent);
  const number = (value: number) => value.toLocaleString('en-US');
  facts(usage, [
    ['fuel', number(used.fuel)],
    ['memory', `${number(used.peakMemoryBytes)} bytes`],
    ['calls', number(used.toolCalls)],
    ['output', `${number(used.outputBytes)} bytes`],
    ['time', `${used.wallMs.toFixed(1)} ms`],
  ]);
}

/** Shows texts of programs as text, never as markup. */
function show(lines: readonly Line[]): void {
  let left = MAX_SHOWN;
  const nodes: Node[] = [];
  for (const [kind, text] of lines) {
    const span = document.createElement('span');
    span.className = kind;
    span.textContent = `${text.slice(0, left)}\n`;
    left -= text.length;
    nodes.push(span);
    if (left <= 0) break;
  }
  if (left <= 0) nodes.push(document.createTextNode('… the page shows no more'));
  setStale(false);
  output.replaceChildren(...nodes);
  calls.replaceChildren();
  usage.replaceChildren();
}

function facts(list: HTMLDListElement, entries: readonly (readonly [string, string])[]): void {
  list.replaceChildren(
    ...entries.flatMap(([term, text]) => {
      const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
      dt.textContent = term;
      dd.textContent = text;
      return [dt, dd];
    }),
  );
}

function load({ source, tools }: Shared): void {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: source } });
  toolsText.value = tools;
  toolsChanged();
}

function toolsChanged(): void {
  changed();
  try {
    readTools();
    status.textContent = '';
  } catch (error) {
    status.textContent = messageOf(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function share(): Promise<void> {
  const link = new URL(await toFragment({ source: editor.state.doc.toString(), tools: toolsText.value }), location.href);
  history.replaceState(null, '', link);
  try {
    await navigator.clipboard.writeText(link.href);
    status.textContent = 'the link is in the clipboard';
  } catch {
    status.textContent = 'the link is in the address bar';
  }
}

function layOut(): void {
  const result = format(editor.state.doc.toString(), { name: 'page.ns' });
  if (result.ok) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: result.text } });
  else status.textContent = `line ${result.errors[0].line}: ${result.errors[0].message}`;
}

function showArtefact(): void {
  const read = inspect(element('protocol', HTMLTextAreaElement).value, element('key', HTMLTextAreaElement).value);
  facts(element('artefact', HTMLDListElement), read.facts);
}

runButton.addEventListener('click', run);
stopButton.addEventListener('click', () => stop('stopped'));
element('share', HTMLButtonElement).addEventListener('click', () => void share());
element('format', HTMLButtonElement).addEventListener('click', layOut);
toolsText.addEventListener('input', toolsChanged);
for (const id of ['protocol', 'key']) element(id, HTMLTextAreaElement).addEventListener('input', showArtefact);
exampleList.append(...EXAMPLES.map(({ name }, index) => new Option(name, String(index))));
exampleList.addEventListener('change', () => {
  const chosen = EXAMPLES[exampleList.selectedIndex];
  if (chosen !== undefined) load(chosen);
});

async function begin(): Promise<void> {
  const [first] = EXAMPLES;
  try {
    const shared = (await fromFragment(location.hash)) ?? first;
    if (shared !== undefined) load(shared);
  } catch (error) {
    if (first !== undefined) load(first);
    status.textContent = `the link cannot be read: ${messageOf(error)}`;
  }
}
addEventListener('hashchange', () => void begin());
void begin();
