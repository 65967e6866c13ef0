// Runs probe.mjs under whatever Node runs this file, with whatever descriptors it was started with: `realmchild.ts caged|direct`.
import { probed } from './realm.ts';

process.stdout.write(JSON.stringify(await probed(process.argv[2] === 'caged')));
process.exit(0);
