import { arch, cpus, platform, totalmem } from 'node:os';
import { peerModule } from './peerprocess.ts';
import { PEER_QUOTAS_ABOUT, type PeerQuotaRow, peerQuotaTable } from './peerquotas.ts';
import { promiseTable } from './promises.ts';
import { type QuotaReport, type QuotaRow, quotaTable } from './quotas.ts';
import { short, type Table } from './table.ts';

/** One self-contained HTML file with a title, the machine, and these pieces of HTML. */
export function page(title: string, about: { node: string; quick: boolean }, pieces: readonly string[]): string {
  const [cpu] = cpus();
  const machine = `Node ${about.node}, ${platform()} ${arch()}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GB`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0; }
td, th { padding: 2px 10px; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; }
svg text { font: 12px system-ui, sans-serif; }
.broken { color: #b00020; font-weight: 600; } .kept { color: #1b6e2e; }
</style>
<h1>${escaped(title)}</h1>
<p>${escaped(machine)}${about.quick ? ' — <b>quick: few samples, do not quote</b>' : ''}</p>
${pieces.join('\n')}
</html>
`;
}

/** The report as one self-contained HTML file: tables, plots as SVG, and the method. */
export function quotaPage({ rows, growth, promises }: QuotaReport, about: { node: string; quick: boolean }): string {
  return page('How exactly limits hold', about, [
    `<h2>What is promised</h2>
${htmlTable(promiseTable(promises))}
<h2>Beyond the limit</h2>
<p>Each limit was set, breached again and again, and after every breach a fresh program had to succeed. The bars show how far
beyond the limit a run came at most, in thousandths of the limit; the dark part is the median. Where there is no bar, nothing
went beyond: what is counted is refused before it happens.</p>
${overshootPlot(rows)}
${htmlTable(quotaTable(rows))}
<h2>Memory of the process</h2>
<p>With a limit of 32 MB, values grow in every way the language has until the interpreter refuses. The bar is the most that the
worker process took above what it had while idle, as a multiple of the limit; the line is what is promised (1.25).</p>
${growthPlot(growth)}
<h2>How it is measured</h2>
<p>Observed values are what the result's <code>usage</code> tells, for memory of the process what the system's record of the peak
tells (<code>VmHWM</code>), for a worker that is wedged in native code the time until the host has seen it die. Percentiles are
nearest-rank: p95 from 20 samples on, p99 from 100 on. Everything runs on this machine as it was, with whatever else it did:
run it again on an idle one before you draw conclusions from times. <code>neuroscript bench quotas --html FILE</code> makes this page.</p>`,
  ]);
}

const WIDTH = 900;
const LABEL = 280;
const ROW = 20;

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly inner: number;
  readonly note: string;
}

function overshootPlot(rows: readonly QuotaRow[]): string {
  return plot(
    rows.map(({ limit, program, set, overshoot }) => ({
      label: `${limit}: ${program}`,
      value: ((overshoot?.max ?? 0) / set) * 1000,
      inner: ((overshoot?.median ?? 0) / set) * 1000,
      note: `${short(((overshoot?.max ?? 0) / set) * 1000)} ‰`,
    })),
    null,
  );
}

function growthPlot(growth: QuotaReport['growth']): string {
  if (growth.length === 0) return '<p>Measured on Linux alone.</p>';
  const sorted = [...growth].sort((a, b) => b.ratio - a.ratio);
  return plot(
    sorted.map(({ pattern, ratio }) => ({ label: pattern, value: Math.max(0, ratio), inner: 0, note: short(ratio) })),
    1.25,
  );
}

/** Horizontal bars; `mark` is a vertical line at a value. */
function plot(bars: readonly Bar[], mark: number | null): string {
  const most = Math.max(1e-9, mark ?? 0, ...bars.map(({ value }) => (Number.isFinite(value) ? value : 0)));
  const x = (value: number): number => LABEL + (Math.min(value, most) / most) * (WIDTH - LABEL - 70);
  const height = bars.length * ROW + 10;
  const lines = bars.map(({ label, value, inner, note }, index) => {
    const y = index * ROW + 4;
    return [
      `<text x="${LABEL - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${(x(value) - LABEL).toFixed(1)}" height="14" fill="#9db8d9"/>`,
      `<rect x="${LABEL}" y="${y}" width="${(x(inner) - LABEL).toFixed(1)}" height="14" fill="#2f5f98"/>`,
      `<text x="${(x(value) + 6).toFixed(1)}" y="${y + 12}">${escaped(note)}</text>`,
    ].join('');
  });
  const line =
    mark === null
      ? ''
      : `<line x1="${x(mark).toFixed(1)}" x2="${x(mark).toFixed(1)}" y1="0" y2="${height}" stroke="#b00020" stroke-dasharray="4 3"/>`;
  return `<svg viewBox="0 0 ${WIDTH} ${height}" width="100%" role="img">${lines.join('\n')}${line}</svg>`;
}

/** A table as HTML; verdicts have colours. */
export function htmlTable({ head, cells }: Table): string {
  const cell = (text: string): string =>
    text === 'kept' || text === 'BROKEN' ? `<td class="${text.toLowerCase()}">${text}</td>` : `<td>${escaped(text)}</td>`;
  const body = cells.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n');
  return `<table><tr>${head.map((text) => `<th>${escaped(text)}</th>`).join('')}</tr>\n${body}</table>`;
}

/** A text in which no character is markup. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** What the plots of the second package draw. */
interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly least: number;
  readonly categories: readonly string[];
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

/** The report as one self-contained HTML file with plots. */
export async function peerQuotaPage(rows: readonly PeerQuotaRow[], about: { node: string; quick: boolean }): Promise<string> {
  const { barPlot }: { barPlot(plot: Plot): string } = await peerModule('plots.mjs');
  const over = (limit: PeerQuotaRow['limit'], unit: string): string =>
    barPlot(
      plotOf(
        `Beyond a limit of ${limit}, median`,
        unit,
        rows.filter((row) => row.limit === limit),
        'overshoot',
      ),
    );
  return page('Limits of ours and of others', about, [
    over('time', 'ms'),
    over('memory', 'MB'),
    barPlot(plotOf('How long others in the process of the host waited, median', 'ms', rows, 'stall')),
    htmlTable(peerQuotaTable(rows)),
    `<p>${escaped(PEER_QUOTAS_ABOUT.join(' '))}</p>`,
  ]);
}

/** Below this a bar has no length: milliseconds and megabytes. */
const LEAST = 0.1;

function plotOf(title: string, unit: string, rows: readonly PeerQuotaRow[], field: 'overshoot' | 'stall'): Plot {
  const categories = [...new Set(rows.map(({ program }) => program))];
  const engines = [...new Set(rows.map(({ engine }) => engine))];
  const series = engines.map((name) => ({
    name,
    values: categories.map(
      (program) => rows.find((row) => row.program === program && row.engine === name)?.[field]?.median ?? null,
    ),
  }));
  return { title, unit, least: LEAST, categories, series };
}
