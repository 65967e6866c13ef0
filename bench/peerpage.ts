import { escaped, htmlTable, page } from './page.ts';
import { peerModule } from './peerprocess.ts';
import { PEER_QUOTAS_ABOUT, type PeerQuotaRow, peerQuotaTable } from './peerquotas.ts';

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
