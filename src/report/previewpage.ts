import { createHash } from 'node:crypto';
import { ConfigError } from '../wire/errors.ts';
import { argumentsText } from '../wire/foreseen.ts';
import type { Preview, PreviewCall } from '../wire/preview.ts';
import type { Source } from '../wire/protocol.ts';
import { counted } from '../wire/text/units.ts';
import { boundRows, conditionText, costText, decidedText, effectsText, headText, placeText, timesText } from './foresee.ts';
import { foreign, PAGE_END, pageHead } from './html.ts';

const STYLE = `
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem}
th{white-space:nowrap}
td{overflow-wrap:anywhere}
tbody tr{border-bottom:1px solid #8886}
h1{overflow-wrap:anywhere}
ul{margin:0;padding-left:1.2rem}
.denied{background:rgba(200,0,0,.16)}
.approval{background:rgba(220,160,0,.16)}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
p code{overflow-wrap:anywhere}
pre a,td:first-child,.calls td:last-child{white-space:nowrap}
tbody th{border:0}
:target{outline:2px solid}
@media (max-width:60rem){
table,tbody,tr,td,tbody th{display:block}
thead{display:none}
tbody tr{padding:.4rem 0}
td,tbody th,.calls td:last-child{padding:.1rem .3rem;white-space:normal;border:0}
.calls td::before{opacity:.75}
.calls td:nth-child(3)::before{content:"how often: "}
.calls td:nth-child(4)::before{content:"effects: "}
.calls td:nth-child(5)::before{content:"policy: "}
.calls td:nth-child(6)::before{content:"place: "}
}
`;

/**
 * A preview as one page for the person who decides: the calls with arguments, conditions and verdicts, the most that the run takes, and
 * the programs with the numbers of the calls at their lines. It opens without server, network or script, and everything foreign is text.
 * `sources` are those of the preview. Throws {@link ConfigError} for others.
 */
export function* previewPage(preview: Preview, sources: readonly Source[]): Generator<string> {
  checkSources(preview, sources);
  const { calls, because } = preview;
  yield pageHead(headText(preview), STYLE);
  yield `<p>${summary(calls)}</p>\n`;
  yield `<p>Nothing was run to make this page. A call that is not on this page cannot happen, whatever tools return and whichever errors arise. This
holds for a run of these programs with the globals, the procedure call, the events and the limits that were given here.</p>\n`;
  yield '<h2>Calls</h2>\n<table class="calls"><thead><tr><th>no.</th><th>call</th><th>how often</th><th>effects</th><th>policy</th><th>place</th></tr></thead><tbody>\n';
  for (const call of calls) yield callRow(call, sources);
  yield '</tbody></table>\n<h2>The run takes at most</h2>\n<table><tbody>\n';
  for (const [name, text] of boundRows(preview)) yield `<tr><th>${name}</th><td>${foreign(text)}</td></tr>\n`;
  yield '</tbody></table>\n';
  if (because !== null)
    yield `<p>The program sets no bound of its fuel: ${foreign(`${because.message} (${because.file}:${because.line})`)}.</p>\n`;
  for (const [index, source] of sources.entries()) yield* program(source, index, preview);
  yield PAGE_END;
}

function checkSources({ sources: known }: Preview, sources: readonly Source[]): void {
  const same = (source: Source, index: number): boolean => {
    const { name, sha256 } = known[index] ?? {};
    return name === source.name && sha256 === createHash('sha256').update(source.text).digest('hex');
  };
  if (sources.length !== known.length || !sources.every(same))
    throw new ConfigError('these sources are not those of the preview; a page of others would mislead');
}

/** What a person looks for first. */
function summary(calls: readonly PreviewCall[]): string {
  const parts = [
    ['denied by the policy', calls.filter(({ verdict }) => verdict?.allowed === false)],
    ['allowed only with an approval of each call', calls.filter(isApproved)],
    ['allowed and with effects', calls.filter(({ effects, verdict }) => effects === 'write' && verdict?.allowed === true)],
  ] as const;
  return parts
    .map(([what, rows]) => {
      const links = rows.map(({ number }) => `<a href="#call-${number}">${number}</a>`);
      return `${what}: ${links.length === 0 ? 'none' : links.join(', ')}`;
    })
    .join('<br>\n');
}

function isApproved({ verdict }: PreviewCall): boolean {
  return verdict?.allowed === true && verdict.approval;
}

/** Most characters of one text among the arguments: all that a preview keeps. */
const WHOLE = Number.POSITIVE_INFINITY;

function callRow(call: PreviewCall, sources: readonly Source[]): string {
  const { number, name, args, when, verdict, effects } = call;
  const kind = verdict?.allowed === false ? 'denied' : isApproved(call) ? 'approval' : '';
  const ways = [...when.map(conditionText), ...(call.decidedBy === undefined ? [] : [decidedText(call.decidedBy)])];
  const conditions = ways.map((way) => `<li>${foreign(way)}</li>`).join('');
  const file = sources.findIndex((source) => source.name === call.file);
  const place = foreign(placeText(call));
  const cells = [
    String(number),
    `<code>${foreign(`${name}${argumentsText(args, WHOLE)}`)}</code>${conditions === '' ? '' : `<ul>${conditions}</ul>`}`,
    foreign([timesText(call), costText(call)].filter((text) => text !== '').join(', ')),
    effects === 'write' ? `<strong>${foreign(effectsText(call))}</strong>` : foreign(effectsText(call)),
    verdict === null ? 'no policy judges it' : verdictCell(verdict),
    file === -1 ? place : `<a href="#line-${file}-${call.line}">${place}</a>`,
  ];
  return `<tr id="call-${number}" class="${kind}">${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>\n`;
}

function verdictCell({ policy, reason, approval }: NonNullable<PreviewCall['verdict']>): string {
  const word = { keeps: 'allowed', may: '<strong>MAY BREAK THE POLICY</strong>', breaks: '<strong>DENIED</strong>' }[policy];
  return `${word}: ${foreign(reason)}${approval ? '<br><strong>a human must approve each call</strong>' : ''}`;
}

/** A program with numbered lines. A line with calls names them in front, where no long line hides them. */
function* program({ name, text }: Source, index: number, { calls, sources }: Preview): Generator<string> {
  const rows = Map.groupBy(
    calls.filter(({ file }) => file === name),
    ({ line }) => line,
  );
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const width = String(lines.length).length;
  yield `<h2>${foreign(name)}</h2>\n<p>${counted(lines.length, 'line')}, SHA-256 <code>${foreign(sources[index]?.sha256 ?? '')}</code></p>\n<pre class="code">`;
  for (const [at, line] of lines.entries()) {
    const here = rows.get(at + 1) ?? [];
    const links = here.map(({ number }) => `<a href="#call-${number}">[${number}]</a> `).join('');
    const count = String(at + 1).padStart(width);
    yield `${here.length === 0 ? count : `<span id="line-${index}-${at + 1}">${count}</span>`}  ${links}${foreign(line.replaceAll('\t', '  '))}\n`;
  }
  yield '</pre>\n';
}
