import { YamlFile } from '../yaml.ts';
import { policyForm } from './form.ts';
import { Policy } from './policy.ts';

/** The keys of a policy file. */
export const POLICY_KEYS = [
  'context',
  'allow',
  'deny',
  'grants',
  'toolMaxCalls',
  'when',
  'order',
  'flow',
  'onPolicyBreach',
] as const;

/**
 * A policy file, YAML or JSON (`docs/schemas/policy.schema.json`); its keys are those of {@link PolicyOptions}. Throws
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
  return new Policy(new YamlFile(text, fileName).as(policyForm()));
}
