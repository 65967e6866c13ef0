import { readFileSync } from 'node:fs';
import type { SourceFile } from '../../grammar/syntax/ast.ts';
import { driveFiles } from './driver.ts';

/**
 * Runs the deep programs, whose trees are in the file of the first argument, with the stack that this process was started with. With
 * `measured` they are measured on demand. Prints how each ended as JSON.
 */
const [, , trees = '', how] = process.argv;
const programs: Readonly<Record<string, SourceFile>> = JSON.parse(readFileSync(trees, 'utf8'));
const probe = how === 'measured' ? { probe: { trace: true } } : {};
const outcomes: Record<string, string> = {};
for (const [name, file] of Object.entries(programs)) {
  const { error, emits } = driveFiles([file], { call: 'f', args: [1e6], tools: { 'tool.t.take': () => null }, ...probe });
  outcomes[name] = error === null ? `NS37 ${emits.join('; ')}` : `${error.code} ${error.message}`;
}
process.stdout.write(JSON.stringify(outcomes));
