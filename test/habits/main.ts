/**
 * `npm run habits`: the share of slips of writers of other languages whose first proposed fix gives a program that compiles and does
 * what is expected, by file. `--show` prints the slips that are left; never those that are held out or unseen.
 * `--held-out` and `--unseen` add the share of those.
 * `--loop`: the share of sessions that end DONE, of agents that make a slip in a turn and then replace each line by the fix that they are told.
 */
import { HELD_OUT, KNOWN, UNSEEN } from '../../conformance/habits/corpus.ts';
import { doneBy, fixed, type Share, shareOf } from './harness.ts';

const shows = process.argv.includes('--show');
const all: Share[] = [];

function line(name: string, shares: readonly Share[]): void {
  const sum = (count: (share: Share) => number): number => shares.reduce((total, share) => total + count(share), 0);
  const slips = sum((share) => share.slips);
  const mended = slips - sum(({ wrong }) => wrong.length);
  const share = ((100 * mended) / slips).toFixed(1);
  const [safe, misread] = [sum((one) => one.safe), sum((one) => one.misread.length)];
  process.stdout.write(`${name}: ${mended} of ${slips} (${share} %); by safe fixes alone ${safe}, misread by them ${misread}\n`);
}

for (const file of KNOWN) {
  const share = shareOf(file);
  all.push(share);
  line(file, [share]);
  for (const { name, slip, right } of shows ? [...share.wrong, ...share.misread] : [])
    process.stdout.write(
      `== ${name}\n${slip}-- becomes ${doneBy(fixed(slip)).join(' | ')}\n${fixed(slip)}-- is ${doneBy(right).join(' | ')}\n`,
    );
}
line('known', all);
if (process.argv.includes('--loop')) {
  const { loopShare } = await import('./loop.ts');
  for (const [name, files] of [
    ['known', KNOWN],
    ...(process.argv.includes('--held-out') ? [['held out', [HELD_OUT]] as const] : []),
  ] as const) {
    const { slips, done } = await loopShare(files);
    process.stdout.write(`sessions, ${name}: ${done} of ${slips} end DONE (${((100 * done) / slips).toFixed(1)} %)\n`);
  }
}
if (process.argv.includes('--held-out')) line('held out', [shareOf(HELD_OUT)]);
if (process.argv.includes('--unseen')) line('unseen', [shareOf(UNSEEN)]);
