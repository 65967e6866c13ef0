import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { succeed } from '../package/kit.ts';
import { TOOLS } from './kit.ts';

/** Installs the public servers, the conformance suite and the inspector. */
export default function setup(): void {
  if (!existsSync(join(TOOLS, 'node_modules'))) succeed('npm', ['ci', '--no-audit', '--no-fund'], { cwd: TOOLS });
}
