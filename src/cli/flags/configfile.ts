import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';

/** Maximum bytes of a configuration file. */
const CONFIG_BYTES = 4 * 1024 * 1024;

/** The text of a configuration file. Throws {@link UsageError}. */
export function configText(name: string): Promise<string> {
  return readText(name, CONFIG_BYTES, () => {
    throw new UsageError("only a program can be read from standard input ('-')");
  });
}
