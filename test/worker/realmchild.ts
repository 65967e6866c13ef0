// Runs probe.cjs under the Node and with the descriptors of this process: `realmchild.ts sandboxed|direct`.
import { probed } from './realm.ts';

process.stdout.write(JSON.stringify(await probed(process.argv[2] === 'sandboxed')));
process.exit(0);
