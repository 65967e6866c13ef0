import { createHash } from 'node:crypto';
import type { Interpreter } from '../../runtime/index.ts';
import { type Condition, type Grant, type GrantedCall, literalPattern } from '../../tools/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { Promoted } from './procedure.ts';

/** The calls of a procedure with the arguments of the session, and with any arguments. */
export interface ProcedureCalls {
  readonly given: readonly GrantedCall[];
  readonly any: readonly GrantedCall[];
}

export async function foreseenOf(
  root: Interpreter,
  call: { readonly name: string; readonly args: readonly TaggedJson[] },
): Promise<ProcedureCalls> {
  const given = await root.fork().foresee({ call });
  // Nothing is known of the fields of USERDATA in a turn.
  const args = call.args.map((_, index) => `userdata.given_${index}`).join(', ');
  const sources = [{ name: 'caller', text: `command\n  call ${call.name}(${args})\nendcommand\n` }];
  const any = await root.fork().foresee({ sources, asTurn: true });
  return { given: given.grant?.calls ?? [], any: any.grant?.calls ?? [] };
}

/** Line of `func` in the text of a procedure, after its description. */
const HEAD_LINE = 3;

/** The approved grant for any arguments: where they decide what a call gets, it may get what the procedure can give, and says so. */
export function grantFor(
  file: string,
  grant: Grant,
  actions: string,
  { text, args }: Promoted,
  { given, any }: ProcedureCalls,
): Grant {
  const blank = actions.slice(0, actions.length - actions.trimStart().length);
  const shift = HEAD_LINE - blank.split('\n').length;
  const calls = grant.calls.map(({ when = {}, at = '', ...call }): GrantedCall => {
    const isOfPlace = (other: GrantedCall): boolean => other.tool === call.tool && lineOf(other.at ?? '') === lineOf(at) + shift;
    const kept: [string, Condition][] = [];
    const notes: string[] = [];
    for (const [name, condition] of Object.entries(when)) {
      const has = (other: GrantedCall): boolean => JSON.stringify(other.when?.[name]) === JSON.stringify(condition);
      const rows = any.filter(isOfPlace);
      // What the person has narrowed stays.
      if (rows.every(has) || !given.some((other) => isOfPlace(other) && has(other))) {
        kept.push([name, condition]);
        continue;
      }
      const parameter = args.find(({ value }) => typeof value === 'string' && literalPattern(value) === condition);
      notes.push(parameter === undefined ? `${name} depends on the parameters` : `${name} is the parameter ${parameter.name}`);
      const [wider, ...others] = rows;
      const known = wider?.when?.[name];
      if (known !== undefined && others.every((other) => JSON.stringify(other.when?.[name]) === JSON.stringify(known)))
        kept.push([name, known]);
    }
    const unknown = [...(call.unknown ?? []), ...notes];
    return {
      ...call,
      ...(unknown.length === 0 ? {} : { unknown }),
      ...(kept.length === 0 ? {} : { when: Object.fromEntries(kept) }),
    };
  });
  return { ...grant, programs: [{ name: file, sha256: createHash('sha256').update(text).digest('hex') }], calls };
}

/** The line of a place such as `ACTIONS:4 and other places`. */
function lineOf(place: string): number {
  return Number.parseInt(place.slice(place.indexOf(':') + 1), 10);
}
