import { isMonstrous } from '../../files/json.ts';
import { printable } from '../../report/index.ts';
import { checkPreview, type Preview } from '../../wire/preview.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { parseJson } from './options.ts';
import { named } from './setup.ts';

/** The flag that binds a run to a preview. */
export const BOUND = ['--bound <FILE>', "refuse calls that this preview of 'neuroscript foresee --json' does not have"] as const;

/** Maximum bytes of a preview. */
const PREVIEW_BYTES = 16 * 1024 * 1024;

/** The preview of a file, or nothing without a file, as part of a request. Throws {@link UsageError}. */
export async function readBound(file: string | undefined): Promise<{ readonly bound?: Preview }> {
  if (file === undefined) return {};
  const text = await readText(file, PREVIEW_BYTES, () => {
    throw new UsageError('--bound cannot read standard input; name a file');
  });
  if (isMonstrous(text)) throw new UsageError(`${printable(file)}: the preview nests too deep, or has too many values`);
  const bound: unknown = parseJson(`--bound ${printable(file)}`, text);
  return named(file, () => {
    checkPreview('the preview', bound);
    return { bound };
  });
}
