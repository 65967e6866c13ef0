import { drive } from './driver.ts';
import { DEEP_PROGRAMS } from './shapes.ts';

/** Runs the deep programs, with the stack that this process was started with, measured on demand; prints how each ended as JSON. */
const probe = process.argv[2] === 'measured' ? { probe: { trace: true } } : {};
const outcomes: Record<string, string> = {};
for (const [name, source] of Object.entries(DEEP_PROGRAMS)) {
  const { error, emits } = drive(source, { call: 'f', args: [1e6], tools: { 'tool.t.take': () => null }, ...probe });
  outcomes[name] = error === null ? `NS37 ${emits.join('; ')}` : `${error.code} ${error.message}`;
}
process.stdout.write(JSON.stringify(outcomes));
