import { labelNames } from '../../../src/wire/labels.ts';
import type { TaggedJson } from '../../../src/wire/protocol.ts';
import { type Driven, type DriveOptions, drive, Raise } from '../driver.ts';

/** The labels that reached `tool.mail.send`, its first argument apart: of the first call there. */
export interface Reached {
  readonly to: readonly string[];
  readonly rest: readonly string[];
  readonly deciding: readonly string[];
}

const PAGE = { title: 'T', links: ['a@evil.org', 'b@evil.org'], meta: { k: 'v' }, n: 2, html: '<p>reply to a@evil.org</p>' };

/** Tools of a world in which the web is labelled `web`, the customers `crm`, and a review takes `web` away. */
const TOOLS: NonNullable<DriveOptions['tools']> = {
  'tool.web.get': ([what]) => (what === 'map' ? PAGE : what === 'list' ? PAGE.links : what === 'n' ? 2 : PAGE.html),
  'tool.web.echo': ([value]) => value ?? null,
  'tool.web.fail': () => {
    throw new Raise(9, 'reply to a@evil.org');
  },
  'tool.crm.read': () => ({ $handle: 'customer' }),
  'tool.own.get': ([what]) => (what === 'map' ? { k: 'own', list: [1, 2] } : 'own'),
  'tool.own.echo': ([value]) => value ?? null,
  'tool.review.approve': ([value]) => value ?? null,
  'tool.own.store': ([value], { setVar }) => setVar('stored', value ?? null).error,
  'tool.own.recall': (_, { getVar }) => getVar('page').value,
  'tool.own.fix': ([value], { defineConst }) => defineConst('FIXED', value ?? null, true).error,
  'tool.mail.send': () => 'sent',
};

/** Runs a program in that world. `command` is put around it unless it says so itself. */
export function inWorld(program: string, options: DriveOptions = {}): Driven {
  const at = program.search(/^command$/m);
  const sources = at < 0 ? [`command\n${program}\nendcommand`] : [program.slice(at), program.slice(0, at)];
  return drive(sources, {
    pure: true,
    tools: TOOLS,
    stdin: ['typed', 'typed'],
    ask: ([, prompt]) => prompt ?? null,
    flow: FLOW,
    globals: { userdata: USERDATA },
    answers: {
      'tool.web.get': { adds: ['web'], drops: [] },
      'tool.web.echo': { adds: ['web'], drops: [] },
      'tool.web.fail': { adds: ['web'], drops: [] },
      'tool.crm.read': { adds: ['crm'], drops: [] },
      'tool.review.approve': { adds: [], drops: ['web'] },
    },
    ...options,
  });
}

const USERDATA: TaggedJson = { subject: 'mail', fields: { note: 'from the web', name: 'Ada' } };
const FLOW: DriveOptions['flow'] = {
  program: [],
  globals: [{ name: 'userdata', path: ['fields', 'note'], labels: ['web'] }],
  events: [['web'], []],
};

/** What reached the sink. Fails when no call did. */
export function reached(run: Driven): Reached {
  const call = run.calls.find((each) => each.t === 'tool' && each.name === 'tool.mail.send');
  if (call === undefined) throw new Error(`no call of the sink: ${run.error?.message ?? run.emits.join(' ')}`);
  const { args = [], deciding = [] } = (call.t === 'tool' && call.labels) || {};
  const [to, ...rest] = args.map(({ all }) => labelNames(all));
  return { to: to ?? [], rest: [...new Set(rest.flat())].sort(), deciding: labelNames(deciding) };
}
