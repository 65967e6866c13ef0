// A shop outside of all hosts. It remembers the keys of its orders, and notes every request that it gets, with its claim.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.SHOP ?? '.';

/** Books once for each key: a file of that name can be made once. */
function book(sid, { key, fence }) {
  appendFileSync(join(folder, 'requests.txt'), `${JSON.stringify({ sid, key, fence })}\n`);
  try {
    writeFileSync(join(folder, 'orders', Buffer.from(key).toString('base64url')), '', { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return 'booked';
}

const pause = () => new Promise((done) => setTimeout(done, 5));

export const tools = [
  { name: 'tool.shop.Look', effects: 'read', returns: 'string', run: () => 'item' },
  {
    name: 'tool.shop.Book',
    args: [{ name: 'item', type: 'string' }],
    returns: 'string',
    effects: 'write',
    idempotent: true,
    run: async (_, { call, turn }) => {
      const done = book(turn.sessionId, call);
      await pause();
      return done;
    },
  },
];
