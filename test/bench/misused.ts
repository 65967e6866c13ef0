import { vi } from 'vitest';
import { benchMain } from '../../bench/main.ts';

/**
 * Runs `npm run bench` in this process, for arguments that are refused: a process of its own takes a second of CPU time to load the
 * benchmarks. They write to the streams of the process.
 */
export async function misused(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      texts[name] += String(text);
      return true;
    }),
  );
  try {
    const code = await benchMain(args);
    return { code, ...texts };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
