import { describe, expect, it } from 'vitest';
import { PageToolError, runInPage } from '../../src/browser/index.ts';
import { inProcess } from '../conformance/both.ts';
import { essence, sections } from '../conformance/suite.ts';
import { inPage, runsInPage } from './page.ts';

describe('a program in a page', () => {
  it('gives the output and the fuel that it gives elsewhere, over the whole conformance suite', () => {
    let compared = 0;
    let left = 0;
    for (const section of sections())
      for (const chunk of section.chunks) {
        if (!runsInPage(chunk)) {
          left += 1;
          continue;
        }
        compared += 1;
        expect(essence(inPage(chunk, section.tools().here)), chunk.title).toEqual(
          essence(inProcess(chunk, section.tools().here, true)),
        );
      }
    expect(compared).toBeGreaterThan(480);
    expect(left / compared).toBeLessThan(0.15);
  });

  it('takes tools of the page, with their errors, and lists the calls', () => {
    const result = runInPage('command\n  emit tool.shop.Price("pen")\n  emit tool.Shop.price("gold")\nendcommand\n', {
      tools: {
        'tool.shop.Price': (item) => {
          if (item === 'gold') throw new PageToolError(9, 'no such item');
          return 3;
        },
      },
    });
    expect(result).toMatchObject({ ok: false, emits: ['3'], error: { nsCode: 9, message: 'no such item', line: 3 } });
    expect(result.calls).toEqual([
      { tool: 'tool.shop.price', args: ['pen'], result: 3, error: null },
      { tool: 'tool.shop.price', args: ['gold'], result: null, error: { code: 9, message: 'no such item' } },
    ]);
  });

  it('makes calls that run together in their order', () => {
    const source = 'command\n  for each i, s in ["a", "no", "c"] together\n    set l[i] = tool.t.Up(s)\n  endfor\nendcommand\n';
    const tools = {
      'tool.t.Up': (text: unknown) => {
        if (text === 'no') throw new PageToolError(9, 'not this');
        return String(text).toUpperCase();
      },
    };
    const result = runInPage(source, { tools });
    expect(result).toMatchObject({ ok: false, error: { nsCode: 9, line: 3 } });
    expect(result.calls.map(({ result: value }) => value)).toEqual(['A', null, 'C']);
  });

  it('ends a program at its fuel, its memory and its time', () => {
    const endless = 'command\n  while true\n    set x = 1\n  endwhile\nendcommand\n';
    expect(runInPage(endless, { limits: { fuel: 1000 } }).error).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel' });
    expect(runInPage(endless, { limits: { fuel: 1e15, wallMs: 50, cpuMs: 1000 } }).error).toMatchObject({ limit: 'wallMs' });
    const hungry = 'command\n  set l = []\n  while true\n    set l = l + "0123456789"\n  endwhile\nendcommand\n';
    expect(runInPage(hungry, { limits: { memoryBytes: 1_000_000 } }).error).toMatchObject({ limit: 'memoryBytes' });
    expect(() => runInPage('', { limits: { fuel: -1 } })).toThrow('limit fuel must be at least 1');
  });

  it('reports every syntax error and runs nothing', () => {
    const result = runInPage('command\n  set = 1\n  emit )\nendcommand\n');
    expect(result).toMatchObject({ ok: false, phase: 'parse', emits: [], error: { code: 'NS15', line: 2 } });
    expect(result.diagnostics.map(({ line }) => line)).toEqual([2, 3]);
  });
});
