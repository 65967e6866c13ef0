import { z } from 'zod';
import { fields, later, pathText, readAs } from '../files/problem.ts';
import { requestForm } from '../runtime/index.ts';
import { LIMITS } from '../wire/limits.ts';
import { RpcError } from './error.ts';
import { RPC } from './messages.ts';

/** The version of the protocol. */
export const PROTOCOL = 1;

const object = z.record(z.string(), z.unknown());
const count = z.int().min(0);

/** The forms of the parameters, by method (`docs/schemas/host.schema.json`). */
export const paramForms = later(() => {
  const limits = fields(Object.fromEntries(LIMITS.map(({ key }) => [key, z.number().optional()])));
  const policy = object.meta({ description: 'A policy as in a policy file (`policy.schema.json`).' });
  const jsonSchema = object.meta({ description: 'A JSON Schema.' });
  const tool = fields({
    name: z.string().meta({ description: 'Its name in programs, such as `tool.crm.Find`.' }),
    description: z.string().optional(),
    inputSchema: jsonSchema
      .optional()
      .meta({ description: 'A JSON Schema of an object: its properties are the arguments, in their order.' }),
    outputSchema: jsonSchema.optional().meta({ description: 'A JSON Schema by which every result is checked.' }),
    effects: z.enum(['none', 'read', 'write']).optional().meta({ description: '`write` when absent.' }),
    idempotent: z.boolean().optional().meta({ description: 'Whether a repeated call has no second effect.' }),
    cost: fields({ usd: z.union([z.number(), fields({ each: z.number(), of: z.string() })]) })
      .optional()
      .meta({ description: 'What a call costs, in US dollars: a sum, or `each` for each unit of the argument `of`.' }),
    requiresApproval: z.boolean().optional().meta({ description: 'Whether a person must approve every call.' }),
    capabilities: z.array(z.string()).optional().meta({ description: 'Grants that a policy must give.' }),
    timeoutMs: count.optional(),
  });
  const { id: _, ...request } = requestForm().shape;
  const program = {
    ...request,
    policy: policy.optional().meta({ description: 'Must admit every call, in addition to the policy of the host.' }),
  };
  const sid = z.string().meta({ description: 'The id of the session.' });
  const drive = {
    maxTurns: count.optional(),
    maxTokens: count.optional(),
    maxReasks: count.optional(),
    wallMs: count.optional(),
    limits: limits.optional(),
    repair: fields({ fix: z.literal('safe').optional(), changed: z.enum(['ask', 'proceed', 'halt']).optional() }).optional(),
  };
  return {
    initialize: fields({
      protocol: z.literal(PROTOCOL).optional().meta({ description: 'The version of the protocol that the client speaks.' }),
      tools: z.array(tool).optional().meta({ description: 'The tools that the client offers to programs.' }),
      policy: policy
        .optional()
        .meta({ description: 'When absent, the tools of the client and those without effects are allowed.' }),
      limits: limits.optional().meta({ description: 'Only ever tighten what the command allows.' }),
    }),
    run: fields({
      ...program,
      session: z.string().optional().meta({ description: 'The session whose tools keep their state until `session.end`.' }),
    }),
    foresee: fields(program),
    check: fields({
      src: z.string(),
      lib: z.union([z.string(), z.array(z.string())]).optional(),
      globals: z.array(z.string()).optional().meta({ description: 'Names of globals that the program will find.' }),
    }),
    cancel: fields({ id: z.union([z.string(), z.int()]).meta({ description: 'The id of an open request.' }) }),
    turn: fields({
      envelope: z.string().meta({ description: 'One AEIOU v3 envelope.' }),
      sid: sid.optional(),
      turn: z.int().min(1).optional(),
      nonce: z.string().optional().meta({ description: '16 bytes in base64url.' }),
      limits: limits.optional(),
    }),
    'session.run': fields({ ...drive, userdata: object, sid: sid.optional() }),
    'session.resume': fields({ ...drive, sid }),
    'session.complete': fields({
      sid,
      call: z.string().meta({ description: 'The id of the call that waits.' }),
      answer: object.meta({ description: '`{"result": VALUE}` or `{"error": {"message": TEXT, "code": NUMBER}}`.' }),
    }),
    'session.cancel': fields({ sid }),
    'session.end': fields({ session: z.string() }),
  };
});

export type MethodName = keyof ReturnType<typeof paramForms>;

export type Params<Name extends MethodName> = z.output<ReturnType<typeof paramForms>[Name]>;

/** Reads the parameters of a request. Throws {@link RpcError} with the path of the first problem. */
export function readParams<Name extends MethodName>(name: Name, value: unknown): Params<Name> {
  const form: z.ZodType = paramForms()[name];
  // The form belongs to the name.
  return readAs(form, value ?? {}, ({ path, problem }) => {
    throw new RpcError(RPC.params, `${path.length === 0 ? `the parameters of ${name}` : pathText(path)}: ${problem}`);
  }) as Params<Name>;
}
