// A shop outside of all hosts. It remembers the keys of its orders, and notes every request that it gets.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.SHOP ?? '.';

/** Books once for each key: a file of that name can be made once. */
function book(key) {
  appendFileSync(join(folder, 'requests.txt'), `${key}\n`);
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
    run: async (_, { call }) => {
      const done = book(call.key);
      await pause();
      return done;
    },
  },
];
