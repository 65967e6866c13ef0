import type { TaggedJson } from '../../../src/wire/protocol.ts';

/** Moments of a turn at which a host process can be made to wait, so that it is stopped exactly there. */
export type Step = 'lease' | 'ask' | 'reply' | 'start' | 'call' | 'run' | 'commit' | 'committed' | 'log' | 'mark';

export interface HostPlan {
  /** The address of a database, or a file of SQLite. */
  readonly place: string;
  readonly schema: string;
  /** Where keys, log and shop are. */
  readonly folder: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** Logs into a file in place of the store. */
  readonly fileLog: boolean;
  /** Tells of a turn that would be taken in a process of its own, and takes it in none. */
  readonly isWatched: boolean;
  /** Waits at this moment of this turn until it is told to go on; never when null. */
  readonly hold: Hold | null;
}

export interface Hold {
  readonly step: Step;
  readonly turn: number;
}

/** What the parent asks of a host process. */
export type Asked =
  | { readonly kind: 'go on' }
  | { readonly kind: 'scrape' }
  | { readonly kind: 'complete'; readonly sid: string; readonly call: string; readonly result: TaggedJson };

/** What a host process tells its parent. */
export type Told =
  | { readonly kind: 'ready'; readonly port?: number }
  | { readonly kind: 'held'; readonly sid: string }
  | { readonly kind: 'metrics'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string };

/** A request that the shop got. */
export interface ShopRequest {
  readonly owner: string;
  readonly sid: string;
  readonly turn: number;
  readonly key: string;
  readonly fence: number;
}

/** What a tool keeps for a session within a process: an object behind a handle, or the directory of the session. */
export interface Belonging {
  readonly owner: string;
  readonly sid: string;
  readonly id: string;
  readonly what: 'made' | 'given back';
}

/** What a session does, by the first part of its id. */
const KINDS = ['work', 'person', 'wait', 'stop', 'late', 'ask', 'poison', 'keep', 'away'] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf(sid: string): Kind {
  return KINDS.find((kind) => sid.startsWith(`${kind}-`)) ?? 'work';
}

const CONTINUE = 'emit tool.aeiou.magic("LOOP", {"action": "continue"})';
const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const WORK = ['emit tool.shop.Book("first")', 'emit tool.shop.Look()', 'emit tool.shop.Book("second")'] as const;

/** Turns of a session of the kind `keep`, and belongings that each of them makes. */
export const KEEPS = { turns: 5, each: 250 } as const;

interface Work {
  /** The statements of each turn. */
  readonly turns: readonly (readonly string[])[];
  /** Orders that the shop has at the end. */
  readonly orders: number;
}

const LONG: Work = {
  turns: [
    [...WORK, CONTINUE],
    [...WORK, CONTINUE],
    ['emit tool.shop.Book("last")', DONE],
  ],
  orders: 5,
};

/** The programs of each kind. The token of `wait` is made before the wait and used after it. */
export const WORKS: Readonly<Record<Kind, Work>> = {
  work: LONG,
  /** As `work`, but the agent gives no reply to the first requests of each turn. */
  away: LONG,
  person: { turns: [[CONTINUE], ['emit tool.shop.Send("parcel")', 'emit tool.shop.Book("invoice")', DONE]], orders: 2 },
  wait: {
    turns: [
      ['emit tool.shop.Book("first")', CONTINUE],
      [
        'set t = tool.aeiou.magic("LOOP", {"action": "done"})',
        'emit tool.shop.Approve()',
        'emit tool.shop.Book("second")',
        'emit t',
      ],
    ],
    orders: 2,
  },
  stop: {
    turns: [
      ['emit tool.shop.Book("first")', CONTINUE],
      ['emit tool.shop.Approve()', DONE],
    ],
    orders: 1,
  },
  late: {
    turns: [
      ['emit tool.shop.Book("first")', CONTINUE],
      ['emit tool.shop.Hurry()', DONE],
    ],
    orders: 1,
  },
  ask: {
    turns: [
      ['emit tool.shop.Book("first")', CONTINUE],
      ['emit tool.shop.Book("second")', 'ask "helper", "go" into answer', 'emit answer', DONE],
    ],
    orders: 3,
  },
  poison: {
    turns: [
      ['emit tool.shop.Book("first")', CONTINUE],
      ['call tool.shop.Die()', DONE],
    ],
    orders: 1,
  },
  keep: {
    turns: Array.from({ length: KEEPS.turns }, (_, before) => [
      `emit "${before}: " + tool.shop.Keep(${KEEPS.each})`,
      before + 1 < KEEPS.turns ? CONTINUE : DONE,
    ]),
    orders: 0,
  },
};

/** The turns of the session that `ask` opens. */
export const HELPER: readonly (readonly string[])[] = [
  ['emit "helped"', CONTINUE],
  ['emit tool.shop.Look()', 'emit tool.shop.Book("helped")', DONE],
];
