// What is asked of a corpus: commands that read, verify, replay and continue it. The command that made the corpus answers first.
import { LATER, NOW } from './making.mjs';

const STORE = ['--store', 'sessions.db'];
const AGAIN = [...STORE, '--log', 'decisions.jsonl', '--keys', 'keys.json', '--ids', 'again', '--json'];
/** Measured times, which differ from run to run, and the newest form of a store, which belongs to the reader. */
const READ = ['newest'];
const RUN = ['cpuMs', 'wallMs'];

/** The files that `inspect` reads; `inputs/` has those that people write. */
const FILES = [
  ...['sessions.db', 'values.db', 'decisions.jsonl', 'keys.json', 'public.json', 'recording.yaml', 'game.yaml', 'export.json'],
  ...['redacted.json', 'loop.json', 'v1.json', 'turn.json', 'envelope.txt'],
  ...['pending', 'approved', 'executed', 'attempts'].map((name) => `queue/${name}.jsonl`),
  ...['inputs/done.txt', 'inputs/tools.json', 'inputs/policy.json', 'inputs/game.ns'],
];

/**
 * The commands, in the order in which they run, in a copy of the corpus: those that read come before those that write. `apart` names the
 * keys of the answer that are not compared.
 */
export function questionsFor({ sids, intents }) {
  const ask = (apart, ...args) => ({ args, apart });
  const intent = ({ id, hash }) => [id, hash, '--queue', 'queue'];
  return [
    ...FILES.map((file) => ask(READ, 'inspect', file, '--json')),
    ask([], 'log', 'verify', 'decisions.jsonl', '--json'),
    ask([], 'keys', 'list', 'keys.json', '--json'),
    ...sids.map((sid) => ask([], 'sessions', 'show', sid, ...STORE, '--json')),
    ask([], 'sessions', 'export', ...STORE),
    ask([], 'replay', '--all', ...STORE, '--json'),
    ask([], 'replay', '--all', ...STORE, '--keys', 'public.json', '--json'),
    ask([], 'replay', 'export.json', '--json'),
    ask([], 'replay', 'redacted.json', '--json'),
    ask(RUN, 'run', 'inputs/game.ns', '--tools', 'game.yaml', '--json'),
    ask(RUN, 'run', 'inputs/reads.ns', '--storage', 'values.db', '--json'),
    ask([], 'gate', 'verify', ...intent(intents.approved)),
    ask([], 'gate', ...intent(intents.approved), '--verifier', 'true'),
    ask([], 'gate', ...intent(intents.executed), '--verifier', 'true'),
    ask(
      [...RUN, 'agent'],
      ...['sessions', 'complete', 'waiting', '--call', '1.2', '--result', '"yes"', '--tools', 'inputs/tools.json'],
      ...['--agent', 'script:inputs/buys.txt', ...AGAIN, '--now', LATER],
    ),
    ask(
      [...RUN, 'agent'],
      ...[
        'sessions',
        'resume',
        'interrupted',
        '--tools',
        'inputs/answering.json',
        '--agent',
        'script:inputs/hangs.txt',
        ...AGAIN,
        '--now',
        NOW,
      ],
    ),
    ask([], 'replay', '--all', ...STORE, '--json'),
    ask(['head'], 'log', 'verify', 'decisions.jsonl', '--json'),
  ];
}
