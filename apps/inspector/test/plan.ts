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
      expiresAt: NOW + 82_800_000,
      completed: false,
      refusal: null,
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
            notes: [whole('unknown: its arguments')],
          },
          {
            tool: 'tool.fs.delete',
            effects: 'write',
            mayChange: true,
            change: 'narrower',
            terms: whole('path "/var/reports/old", at most once'),
            notes: [whole('at ACTIONS:14')],
          },
          {
            tool: 'tool.db.query',
            effects: 'read',
            mayChange: false,
            change: 'same',
            terms: whole('any arguments, at most once'),
            notes: [],
          },
        ],
        gone: ['tool.http.get'],
        notes: [whole('tool.mail.send only after tool.db.query')],
      },
    },
  ],
});
