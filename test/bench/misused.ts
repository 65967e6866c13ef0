import { vi } from 'vitest';
import { within } from '../cli/terminal.ts';

/**
 * Runs `neuroscript bench` in this process, for arguments that are refused: a process of its own takes a second of CPU time to load the
 * benchmarks. They write to the streams of the process.
 */
export async function misused(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      texts[name] += String(text);
      return true;
    }),
  );
  try {
    const { code, stdout, stderr } = await within(['bench', ...args]);
    return { code, stdout: texts.stdout + stdout, stderr: texts.stderr + stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
