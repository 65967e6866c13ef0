import { expect, it } from 'vitest';
import { complete } from '../../src/lsp/complete.ts';
import { hover } from '../../src/lsp/hover.ts';
import { Workspace } from '../../src/lsp/workspace.ts';
import { Policy } from '../../src/tools/index.ts';

it('issue 47, promote: an editor offers the procedures of other files, and says what they do', () => {
  const workspace = new Workspace({ tools: [], policy: new Policy({ allow: ['*'] }), complete: false, denies: false });
  workspace.file(
    'file:///lib/send.ns',
    ':: description: Sends to one address.\n\nfunc send(needs to) means\n  emit to\nendfunc\n',
  );
  workspace.edit('file:///a.ns', 'command\n  call send("a")\nendcommand\n');
  const document = workspace.document('file:///a.ns');
  if (document === undefined) throw new Error('no document');
  const place = { line: 1, character: 9 };
  expect(complete(document, place, workspace, false).find(({ label }) => label === 'send')).toMatchObject({
    detail: 'func send(needs to)',
    documentation: 'Sends to one address.',
  });
  expect(hover(document, place, workspace)?.contents).toMatchObject({ value: expect.stringContaining('Sends to one address') });
});
