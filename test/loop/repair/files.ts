/** A module of tools: each mail is a letter in a file of its session. */
export const TOOLS = `import { appendFileSync } from 'node:fs';
const run = (_, { turn }) => { appendFileSync(turn.sessionId + '.sent', 'x'); return 'sent'; };
export const tools = [
  { name: 'tool.mail.Send', args: [{ name: 'to', type: 'string' }], run },
  { name: 'tool.secret.Read', run: () => 'secret' },
];`;

/**
 * A command as an agent: it keeps what it was asked, and gives the text of one file and then that of another. The subject of USERDATA
 * names the files.
 */
export const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
const [, name] = [...prompt.matchAll(/"subject":"([a-z0-9]+)"/g)].at(-1);
const turn = existsSync(name + '.1.txt') ? 2 : 1;
writeFileSync(name + '.' + turn + '.txt', prompt);
process.stdout.write(readFileSync(name + (turn === 1 ? '.first' : '.second'), 'utf8'));`;
