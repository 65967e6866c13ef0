import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { commandOf, TOOLS } from './kit.ts';

/** The protocol versions that this runtime speaks, and whose requirements are tested. */
export const VERSIONS = ['2025-11-25', '2026-07-28'] as const;
export type Version = (typeof VERSIONS)[number];

const SUITE = '@modelcontextprotocol/conformance';
const requirements = z.object({ client: z.array(z.string()), server: z.array(z.string()) });
const checks = z.array(z.object({ id: z.string(), status: z.string() }));

/** The scenarios that a version requires of a client or a server, as the suite has frozen them. */
export function required(version: Version, side: 'client' | 'server'): readonly string[] {
  const file = join(TOOLS, 'node_modules', SUITE, 'requirements', `${version}.yaml`);
  return requirements.parse(parse(readFileSync(file, 'utf8')))[side];
}

/** The checks of one scenario by outcome; `failed` names them. */
export interface Outcome {
  readonly passed: number;
  readonly failed: readonly string[];
}

/** Runs one scenario of the suite at a version of the protocol, or at the one that the scenario is for, with these arguments after the side, and reads its checks. */
export async function scenario(
  version: Version | null,
  name: string,
  side: 'client' | 'server',
  args: readonly string[],
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-conformance-'));
  try {
    const command = [commandOf(SUITE, 'conformance'), side, ...args, '--scenario', name];
    const at = version === null ? [] : ['--spec-version', version];
    const child = spawn(process.execPath, [...command, ...at, '-o', folder], { cwd: folder, stdio: 'ignore' });
    await new Promise((resolve) => child.once('close', resolve));
    const [file] = globSync(join(folder, '**', 'checks.json'));
    if (file === undefined) return { passed: 0, failed: ['the scenario wrote no checks'] };
    const found = checks.parse(JSON.parse(readFileSync(file, 'utf8')));
    const failed = found.filter(({ status }) => status === 'FAILURE').map(({ id }) => id);
    return { passed: found.filter(({ status }) => status === 'SUCCESS').length, failed: [...new Set(failed)] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
