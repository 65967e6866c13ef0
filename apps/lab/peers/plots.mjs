// Plots of `bench quotas --peers --html`, drawn by Apache ECharts as static SVG.
import { init } from 'echarts';

const ROW_PX = 22;
const AROUND_PX = 90;

/**
 * Horizontal bars, one group for each category and one bar for each series, on a logarithmic axis from `least` on.
 * @param {{ title: string, unit: string, least: number, categories: string[], series: { name: string, values: (number | null)[] }[] }} plot
 */
export function barPlot({ title, unit, least, categories, series }) {
  const height = AROUND_PX + categories.length * series.length * ROW_PX * 0.6;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 980, height });
  chart.setOption({
    animation: false,
    title: { text: title, textStyle: { fontSize: 14 } },
    legend: { top: 24 },
    grid: { left: 10, right: 40, top: 56, bottom: 30, containLabel: true },
    xAxis: { type: 'log', name: unit, min: least },
    yAxis: { type: 'category', data: categories, inverse: true },
    series: series.map(({ name, values }) => ({
      name,
      type: 'bar',
      data: values.map((value) => (value === null ? null : Math.max(least, value))),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
