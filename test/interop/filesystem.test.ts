// @module-tag slow
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/entries/index.ts';
import { McpSource } from '../../src/mcp/index.ts';
import { toolPrompt } from '../../src/tools/index.ts';
import { tempFolder } from '../folder.ts';
import { publicServer } from './kit.ts';

describe('the public server-filesystem', () => {
  it('reads and edits files in its folder, refuses others, and says once what all its tools say', async () => {
    const folder = realpathSync(tempFolder());
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'one\ntwo\n');
    await using source = await McpSource.connect({
      files: { command: process.execPath, args: [publicServer('filesystem'), folder], readOnly: ['read_text_file'] },
    });
    await using runtime = await createRuntime({
      tools: source.tools,
      policy: { allow: ['tool.files.*'], grants: ['mcp:call:files'] },
    });
    const { emits, error } = await runtime.run(
      `command
  emit tool.files.read_text_file({"path": path, "head": 1})["content"]
  must tool.files.edit_file({"path": path, "edits": [{"oldText": "two", "newText": "three"}]})
  emit tool.files.read_text_file({"path": "/etc/hostname"})
endcommand`,
      { values: { path } },
    );
    expect([emits, readFileSync(path, 'utf8')]).toEqual([['one'], 'one\nthree\n']);
    expect([error?.code, error?.message]).toEqual(['NS21', expect.stringContaining('outside allowed directories')]);
    const { text } = toolPrompt(source.tools);
    expect(text.split('Only works within allowed directories.')).toHaveLength(2);
    expect(text).toContain('edits: list of {oldText: string, newText: string}');
  });
});
