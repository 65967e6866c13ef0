// A session that waits for the approval of the plan of its second turn.
import type { SessionView } from '../../../src/ui/views.ts';
import { NOW, sessionRow, sessionView, whole } from './mock.ts';

export const PLAN: SessionView = sessionView(sessionRow('plan-9', 1, { phase: 'waiting', waiting: 1, started: 2 }), {
  calls: [
    {
      call: 'plan',
      turn: 2,
      tool: 'tool.mail.Send',
      args: [],
      reason: 'its plan must be approved first',
      since: NOW - 60_000,
      expiresAt: Date.now() + 82_800_000,
      completed: false,
      refusal: null,
      answer: 'truth',
      plan: {
        head: whole('ACTIONS: 3 calls, 2 of which may change something'),
        since: 1,
        calls: [
          {
            tool: 'tool.mail.send',
            effects: 'write',
            mayChange: true,
            change: 'new',
            terms: whole('any arguments, any number of times'),
            cost: 'cost: no bound but the limit, usually $0.002 a call (median of 1,204)',
            notes: [whole('unknown: its arguments')],
          },
          {
            tool: 'tool.fs.delete',
            effects: 'write',
            mayChange: true,
            change: 'narrower',
            terms: whole('path "/var/reports/old", at most once'),
            cost: 'cost: at most $0.05',
            notes: [whole('at ACTIONS:14')],
          },
          {
            tool: 'tool.db.query',
            effects: 'read',
            mayChange: false,
            change: 'same',
            terms: whole('any arguments, at most once'),
            cost: '',
            notes: [],
          },
        ],
        gone: ['tool.http.get'],
        notes: [
          whole('all of it costs at most $100.00, by the limit of the run'),
          whole('tool.mail.send only after tool.db.query'),
        ],
      },
    },
  ],
});
