import { foreign, PAGE_END, pageHead } from '../../report/html.ts';
import type { Heat, LineHeat, ProcedureHeat } from '../../wire/heat.ts';
import type { Source } from '../../wire/protocol.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { flameSvg } from './flame.ts';

/** Most lines of all sources that the page shows; of what is beyond, only those that were executed, and of these as many again. */
const MOST_LINES = 20_000;
const WIDEST = 300;

const STYLE = `
:root{--hot:200,60,0}
th,td{text-align:right;padding:.1rem .6rem;white-space:nowrap}
td.text,th.text{text-align:left}
.wide{overflow-x:auto}
.code td.text{white-space:pre}
@media(max-width:60rem){.code td.text{white-space:pre-wrap;overflow-wrap:anywhere;min-width:9rem}.code :is(th,td){padding-inline:.3rem;vertical-align:top}}
@media(max-width:40rem){.code :is(th,td):is(:nth-child(2),:nth-child(5)){display:none}}
.flame text{font:11px ui-monospace,monospace;fill:#111}
.flame rect{fill:#f0a860;stroke:#fff;stroke-width:.5}
.flame .procedure,.flame .commands,.flame .event{fill:#e2703a}
.flame .tool,.flame .prompt,.flame .ask,.flame .together{fill:#7fb2e5}
.flame .handler,.flame .host{fill:#c9c9c9}
${Array.from({ length: 10 }, (_, at) => `.h${at + 1}{background:rgba(var(--hot),${((at + 1) * 0.06).toFixed(2)})}`).join('\n')}
`;

/**
 * The heat of a run as one page, which needs neither network nor script: fuel and time by procedure and by line, and flame graphs.
 * `title` names the run. Everything foreign is text.
 */
export function* heatPage(heat: Heat, sources: readonly Source[], title: string): Generator<string> {
  yield pageHead(`Heat of ${title}`, STYLE);
  yield `<p>${grouped(heat.fuel)} fuel, ${time(heat.us)}, ${grouped(heat.steps)} statements. Fuel is exact, time is measured and includes measuring.</p>\n`;
  for (const notice of heat.notices) yield `<p role="note">Note: ${foreign(notice)}.</p>\n`;
  if (heat.outside.fuel > 0)
    yield `<p>${grouped(heat.outside.fuel)} fuel was spent outside of all lines: to take values from the host.</p>\n`;
  yield `<h2>Fuel by path of calls</h2>\n${flameSvg(
    heat,
    (spent) => spent.fuel,
    (amount) => `${grouped(amount)} fuel`,
  )}\n`;
  yield `<h2>Time by path of calls</h2>\n${flameSvg(heat, (spent) => spent.us, time)}\n`;
  yield '<h2>Procedures</h2>\n<div class="wide"><table><thead><tr><th class="text">name</th><th class="text">defined at</th>';
  yield '<th>calls</th><th>fuel</th><th>fuel in all</th><th>time</th><th>time in all</th></tr></thead><tbody>\n';
  for (const procedure of heat.procedures.toSorted((a, b) => b.total.fuel - a.total.fuel)) yield procedureRow(procedure);
  yield '</tbody></table></div>\n';
  for (const [name, part] of Map.groupBy(heat.lines, ({ source }) => source)) {
    yield `<h2>${foreign(name)}</h2>\n<div class="wide"><table class="code"><thead><tr><th>fuel</th><th>of all</th><th>time</th><th>visits</th><th>fuel in all</th><th>line</th>`;
    yield '<th class="text">program</th></tr></thead><tbody>\n';
    yield* linesOf(part, sources.find((source) => source.name === name)?.text ?? '', heat);
    yield '</tbody></table></div>\n';
  }
  yield PAGE_END;
}

function procedureRow({ name, source, line, calls, fuel, us, total }: ProcedureHeat): string {
  const cells = [grouped(calls), grouped(fuel), grouped(total.fuel), time(us), time(total.us)]
    .map((cell) => `<td>${cell}</td>`)
    .join('');
  return `<tr><td class="text">${foreign(name)}</td><td class="text">${foreign(source)}:${line}</td>${cells}</tr>\n`;
}

function* linesOf(part: readonly LineHeat[], source: string, { fuel: all, lines }: Heat): Generator<string> {
  const rows = new Map(part.map((line) => [line.line, line]));
  const texts = source.replace(/\r\n?/g, '\n').split('\n');
  const most = lines.reduce((hottest, { fuel }) => Math.max(hottest, fuel), 1);
  const numbers = texts.length <= MOST_LINES ? texts.keys().map((index) => index + 1) : rows.keys().take(MOST_LINES);
  for (const number of numbers) {
    const line = rows.get(number);
    const level = line === undefined ? 0 : Math.ceil((10 * line.fuel) / most);
    const cells =
      line === undefined
        ? '<td></td><td></td><td></td><td></td><td></td>'
        : [
            grouped(line.fuel),
            `${((100 * line.fuel) / Math.max(1, all)).toFixed(1)}%`,
            time(line.us),
            grouped(line.visits),
            grouped(line.total.fuel),
          ]
            .map((cell) => `<td>${cell}</td>`)
            .join('');
    const code = foreign((texts[number - 1] ?? '').slice(0, WIDEST).replaceAll('\t', '  '));
    yield `<tr${level === 0 ? '' : ` class="h${level}"`}>${cells}<td>${number}</td><td class="text">${code}</td></tr>\n`;
  }
}

function time(us: number): string {
  return us < 1000 ? `${us} µs` : `${Math.round(us / 100) / 10} ms`;
}
