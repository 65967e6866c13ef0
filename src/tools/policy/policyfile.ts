import type { Path } from '../../files/problem.ts';
import { ConfigError } from '../../wire/errors.ts';
import { YamlFile } from '../yaml.ts';
import { Policy, type PolicyOptions } from './policy.ts';

/** The keys of a policy file. */
export const POLICY_KEYS = ['context', 'allow', 'deny', 'grants', 'toolMaxCalls', 'onPolicyBreach'] as const;

/**
 * A policy file, YAML or JSON (`schemas/policy.schema.json`); its keys are those of {@link PolicyOptions}. Throws
 * {@link ConfigError} (`ERR_CONFIG`) with the file, the line and the problem.
 *
 * @example
 * ```ts
 * import { createRuntime, loadPolicy } from 'neuroscript-runtime';
 *
 * const policy = loadPolicy('allow: [tool.fs.Read]\ngrants: ["fs:read:*"]', 'policy.yaml');
 * await using runtime = await createRuntime({ policy });
 * ```
 */
export function loadPolicy(text: string, fileName: string): Policy {
  const file = new YamlFile(text, fileName);
  const top = file.map([], file.value, POLICY_KEYS);
  for (const key of POLICY_KEYS) {
    const value = top[key];
    if (value === undefined) continue;
    // Each part is checked on its own, so that the problem has its line.
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) check(file, [key, index], { [key]: [file.text([key, index], item)] });
    else if (key === 'toolMaxCalls')
      for (const [tool, most] of Object.entries(file.map([key], value, null)))
        check(file, [key, tool], { [key]: { [tool]: most } });
    check(file, [key], { [key]: value });
  }
  return make(top);
}

function check(file: YamlFile, path: Path, options: Readonly<Record<string, unknown>>): void {
  try {
    make(options);
  } catch (error) {
    if (error instanceof ConfigError) file.fail(path, error.message);
    throw error;
  }
}

/** The constructor checks every value, so the cast is safe. */
function make(options: Readonly<Record<string, unknown>>): Policy {
  return new Policy(options as PolicyOptions);
}
