/** The kind of a run. Only `config` admits tools that require trust. */
export type PolicyContext = 'config' | 'normal' | 'test';

/** The tools that a script may call. An absent or empty allow list denies every tool. */
export interface PolicyOptions {
  /** `normal` when absent. */
  readonly context?: PolicyContext;
  /** Patterns over canonical names: `tool.fs.read`, `tool.math.*`, `*.get`, `*mem*`, `*`. One that no name can match is an error. */
  readonly allow?: readonly string[];
  /** Patterns that override `allow`. */
  readonly deny?: readonly string[];
  /** Capabilities, as `resource:verb,verb[:scope,scope]`. */
  readonly grants?: readonly string[];
  /** Most calls of a tool by all forks of one root interpreter together. */
  readonly toolMaxCalls?: Readonly<Record<string, number>>;
  /** Conditions on arguments, by a pattern of tools. A call must meet one row of every pattern that matches its tool. */
  readonly when?: Readonly<Record<string, readonly ConditionRow[]>>;
  /** Rules about the calls before a call. */
  readonly order?: readonly OrderRule[];
  /** Rules about where values come from. */
  readonly flow?: FlowOptions;
  /** `error` (when absent): a breach is code 1003, which `on error` sees. `halt`: a breach ends the run. */
  readonly onPolicyBreach?: 'error' | 'halt';
}

/** Conditions by the names of arguments; the letter case of names does not matter. A call meets the row if it meets all of them. */
export type ConditionRow = Readonly<Record<string, Condition>>;

/** A value of a condition. In a text, `*` stands for any characters, and `\*` for a star; otherwise texts are compared exactly. */
export type ConditionScalar = string | number | boolean | null;

/** What an argument must be. A missing argument is nil, and so is null. A scalar means that value. */
export type Condition = ConditionScalar | ConditionParts;

/** A type of values, as `typeof` of the language names it; `other` is bytes, a timedate, a fuzzy value, an error or a handle. */
export type ConditionType = 'nil' | 'boolean' | 'number' | 'string' | 'list' | 'map' | 'other' | 'any';

/** What an argument must be, in parts, which must all hold. */
export interface ConditionParts {
  /** A value of one of these types; `any` is every value. */
  readonly type?: ConditionType | readonly ConditionType[];
  /** One of these values. */
  readonly in?: readonly ConditionScalar[];
  /** A number from this one on. */
  readonly min?: number;
  /** A number up to this one. */
  readonly max?: number;
  /** A text of at least so many characters, or a list or map of at least so many entries. */
  readonly minLength?: number;
  /** A text of at most so many characters, or a list or map of at most so many entries. */
  readonly maxLength?: number;
  /** A list, each item of which meets this condition. */
  readonly each?: Condition;
  /** A list of exactly so many items, each of which meets the condition in its place. */
  readonly items?: readonly Condition[];
  /** A map of exactly these keys, whose values meet the conditions. */
  readonly entries?: Readonly<Record<string, Condition>>;
}

/** A rule about the calls before a call. Exactly one of `needs` and `not-after` is present. Calls that failed or were refused do not count. */
export interface OrderRule {
  /** Pattern of the tools for which the rule holds. */
  readonly tool: string;
  /** A tool that matches this pattern must have been called. */
  readonly needs?: string;
  /** No tool that matches this pattern may have been called. */
  readonly 'not-after'?: string;
  /** The calls that count: those of the session (when absent), or of the turn. Outside of a session, those of the run. */
  readonly within?: 'session' | 'turn';
  /** What happens to other calls: they are refused (when absent), or a person is asked. */
  readonly else?: 'refuse' | 'ask';
}

/** Rules about where values come from: which values carry which labels, and where labels may go. */
export interface FlowOptions {
  /**
   * Sources and their labels. A source is a pattern of tools, `userdata.fields.NAME`, `event.PATTERN` or `mcp.SERVER.PATTERN`. For an MCP
   * server, `meta` means the labels that the server itself gives: `untrusted` and `private`.
   */
  readonly labels?: Readonly<Record<string, readonly string[] | 'meta'>>;
  /** Rules by sink. A sink is a pattern of tools, or a tool and an argument, such as `tool.mail.Send.to`. */
  readonly sinks?: Readonly<Record<string, SinkRule>>;
  /** Labels of the program itself. */
  readonly program?: ProgramLabels;
  /** Labels that the results of tools do not carry on, by a pattern of tools; `ask` stands for checked answers of models. */
  readonly endorse?: Readonly<Record<string, readonly string[]>>;
}

/** What happens to a call whose arguments carry labels. */
export interface SinkRule {
  /** Labels for which the call is refused. */
  readonly refuse?: readonly string[];
  /** Labels for which a person is asked. */
  readonly ask?: readonly string[];
  /** Whether the labels count that decide whether and how often the call is made; false when absent. */
  readonly deciding?: boolean;
}

/** The labels of a program: what a model has read is in what it writes. */
export interface ProgramLabels {
  /** At least one. */
  readonly label: readonly string[];
  /** `output`: if OUTPUT or SCRATCHPAD of an earlier turn carries one of these labels. `always` (when absent): every program. */
  readonly when?: 'output' | 'always';
}
