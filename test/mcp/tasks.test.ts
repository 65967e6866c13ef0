import { describe, expect, it } from 'vitest';
import { readTask, taskIdIn, waitingReason } from '../../src/mcp/tasks.ts';

const taskOf = (taskId: string) => readTask({ taskId, status: 'working' });

describe('the reason of a turn that waits for a task', () => {
  it.each([
    ['a', 'job 1'],
    ['t'.repeat(5000), 'j'.repeat(198)],
    ['a', '\u0000'.repeat(33)],
    ['a works on task "other"', 'b works on task "c'],
    ["a' works on task ", ' works on task '],
  ])('leads back to it, whatever the server calls the tool and the task', (tool, id) => {
    const task = taskOf(id);
    if (task === null) throw new Error('the task is not read');
    const reason = waitingReason('s'.repeat(100), tool, task);
    expect(reason.length).toBeLessThanOrEqual(500);
    expect(taskIdIn(reason)).toBe(id);
  });

  it('is one line of plain words', () => {
    const task = taskOf('\u001b[31m\n');
    expect(task && waitingReason('s', 'a\u001b[31m\nb', task)).toBe(
      "tool 'a [31m b' of MCP server 's' works on task \"\\u001b[31m\\n\"",
    );
  });

  it('names none where there is none', () => {
    for (const reason of ['', ' works on task ', ' works on task 1', 'x works on task "', 'approve it'])
      expect(taskIdIn(reason)).toBeNull();
  });
});

it('a task whose id does not fit into a reason is none', () => {
  expect(taskOf('\u0000'.repeat(34))).toBeNull();
  expect(taskOf('j'.repeat(199))).toBeNull();
});
