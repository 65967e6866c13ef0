/** The top of the grammar: header, procedures, event handlers, command blocks. */
import type { IOrAlt, IToken } from 'chevrotain';
import { explain } from '../advice/explain.ts';
import type { Block, CommandBlock, EventHandler, FileKind, Metadata as MetadataList, Procedure, SourceFile } from './ast.ts';
import type { Name } from './astexpressions.ts';
import { endOf, nameOf } from './build.ts';
import { StatementParser } from './compound.ts';
import type { Rule } from './expressions.ts';
import { adoptDecisions, type Decision } from './lookahead.ts';
import { mergeMetadata, metadataEntry } from './metadata.ts';
import type { LineTable } from './position.ts';
import { problemAt, type SyntaxProblem } from './problem.ts';
import { TooManyProblems } from './recovery.ts';
import type { Scanned } from './scan.ts';
import { Identifier, keyword, Metadata, Newline, NoStatement, punct } from './tokens.ts';

/** The content of a source. It may be incomplete when the source has errors. */
export interface Program {
  readonly kind: FileKind;
  readonly metadata: MetadataList;
  readonly procedures: readonly Procedure[];
  readonly commands: readonly CommandBlock[];
  readonly typed?: NonNullable<SourceFile['typed']>;
}

/** How the tokens of a source are read: as a file, or as input at a prompt without `command` around it. */
export type Reading = 'file' | NonNullable<SourceFile['typed']>;

/** The outcome of one parse. The program is complete only when there are no problems. */
export interface Parsed {
  /** Undefined when the parser gave up. */
  readonly program: Program | undefined;
  readonly events: readonly (EventHandler | undefined)[];
  readonly problems: readonly SyntaxProblem[];
  /** Whether the text ended within a block, so that more text could complete it. */
  readonly open: boolean;
}

interface Signature {
  readonly name: Name;
  readonly needs: Name[];
  readonly optional: Name[];
  readonly returns: Name[];
}

/** The whole parser. One instance parses any number of sources, one after the other. */
export class ProgramParser extends StatementParser {
  #procedures: Procedure[] = [];
  #commands: CommandBlock[] = [];
  #names = new Set<string>();
  #kind: FileKind = 'empty';
  #mixed = false;

  /** With the decisions of an earlier analysis, the grammar is not analysed. `skipValidations` is false to check the grammar, too. */
  constructor(decisions: readonly Decision[] | null = null, skipValidations = true) {
    super(skipValidations);
    if (decisions === null) this.performSelfAnalysis();
    else adoptDecisions(this, decisions);
  }

  parse(text: string, lines: LineTable, scanned: Scanned, reading: Reading): Parsed {
    this.prepare(text, lines, scanned);
    this.#procedures = [];
    this.#commands = [];
    this.#names = new Set();
    this.#kind = 'empty';
    this.#mixed = false;
    let program: Program | undefined;
    try {
      program = reading === 'file' ? this.#program() : this.#typed(reading);
    } catch (error) {
      if (!(error instanceof TooManyProblems)) throw error;
    }
    const { events, problems, openAtEnd: open } = this;
    this.release();
    return { program, events, problems, open };
  }

  /** Makes one command block of input without the keywords around it. */
  #typed(reading: Exclude<Reading, 'file'>): Program {
    this.inCommand = true;
    this.commandDepth = 0;
    const body = reading === 'statements' ? this.#typedStatements() : this.#typedExpression();
    const commands = [{ metadata: [], body, s: 0, e: this.text.length }];
    return { kind: 'commands', metadata: [], procedures: [], commands, typed: reading };
  }

  readonly #typedStatements: Rule<Block> = this.RULE('typedStatements', (): Block => {
    const body = this.SUBRULE(this.body, { ARGS: [false] });
    this.#strayLines();
    return body;
  });

  /** An expression alone, which is emitted. */
  readonly #typedExpression: Rule<Block> = this.RULE('typedExpression', (): Block => {
    const value = this.line(() => this.SUBRULE(this.condition));
    this.MANY(() => this.CONSUME(Newline));
    this.#strayLines();
    return { stmts: value === undefined ? [] : [{ k: 'emit', value, s: value.s, e: value.e }] };
  });

  readonly #program: Rule<Program> = this.RULE('program', (): Program => {
    const metadata = this.SUBRULE(this.#header);
    do {
      this.MANY(() => {
        this.OR([
          { ALT: () => this.CONSUME(Newline) },
          { ALT: () => this.SUBRULE(this.#procedure) },
          { ALT: () => this.SUBRULE(this.#topLevelEvent) },
          { ALT: () => this.SUBRULE(this.#commandBlock) },
        ]);
      });
    } while (this.#strayLines());
    return { kind: this.#kind, metadata, procedures: this.#procedures, commands: this.#commands };
  });

  readonly #header: Rule<MetadataList> = this.RULE('header', (): MetadataList => {
    const entries: (readonly [string, string])[] = [];
    this.MANY(() => {
      this.OR([{ ALT: () => this.CONSUME(Newline) }, { ALT: () => entries.push(this.#entryOf(this.CONSUME(Metadata))) }]);
    });
    return mergeMetadata(entries);
  });

  /** Metadata lines directly after the head of a block belong to the block. */
  readonly #blockMetadata: Rule<MetadataList> = this.RULE('blockMetadata', (): MetadataList => {
    const entries: (readonly [string, string])[] = [];
    this.MANY(() => {
      entries.push(this.#entryOf(this.CONSUME(Metadata)));
      this.CONSUME(Newline);
    });
    return mergeMetadata(entries);
  });

  #entryOf(line: IToken): readonly [string, string] {
    const entry = metadataEntry(line.image);
    if (entry[0] === '' && !this.RECORDING_PHASE) this.reportAt(line, 'this metadata line has no key', 'write `:: key: value`');
    return entry;
  }

  /** Reports lines outside all blocks as one problem and skips to the next block. Returns whether there were any. */
  #strayLines(): boolean {
    if (this.RECORDING_PHASE || this.atEnd()) return false;
    if (this.LA(1).tokenType === NoStatement) this.SKIP_TOKEN();
    const first = this.LA(1);
    const at = this.position();
    const found = explain({ expected: 'a block', first, peek: (ahead) => this.LA(ahead), at });
    const known = this.settles(first.tokenType) || this.broken;
    this.#skipToBlock();
    if (known) return true;
    this.report(found);
    this.broken = true;
    return true;
  }

  #skipToBlock(): void {
    do this.SKIP_TOKEN();
    while (!this.atEnd() && !(this.startsTopLevel(this.LA(1).tokenType) && this.LA(0).tokenType === Newline));
  }

  #begin(token: IToken, kind: FileKind): void {
    if (this.RECORDING_PHASE) return;
    this.topLevelAt = token.startOffset;
    this.broken = false;
    if (this.#kind === 'empty') this.#kind = kind;
    if (this.#kind === kind || this.#mixed) return;
    this.#mixed = true;
    // The unclosed outer block has been reported; a block inside another was meant, not a mixed file.
    if (this.owesEnd) return;
    const [has, gets] = kind === 'library' ? ['command blocks', 'definition'] : ['definitions', 'command block'];
    const hint = 'make two files: one for procedures and event handlers, one for command blocks';
    this.reportAt(token, `this file has ${has}, so it cannot have a ${gets}`, hint);
  }

  readonly #topLevelEvent: Rule<void> = this.RULE('topLevelEvent', (): void => {
    this.line(() => {
      const open = this.CONSUME(keyword.on);
      this.#begin(open, 'library');
      if (!this.RECORDING_PHASE && this.LA(1).tokenType !== keyword.event) {
        this.broken = true;
        this.mismatch('`event`');
      }
      this.SUBRULE(this.eventHandler, { ARGS: [open] });
    });
  });

  readonly #commandBlock: Rule<void> = this.RULE('commandBlock', (): void => {
    const open = this.CONSUME(keyword.command);
    this.#begin(open, 'commands');
    const whole = this.line(() => this.CONSUME(Newline));
    const metadata = this.SUBRULE(this.#blockMetadata);
    this.blocks.enter(open, keyword.endcommand);
    this.inCommand = true;
    const body = this.SUBRULE(this.body, { ARGS: [whole !== undefined] });
    this.inCommand = false;
    if (this.closes()) this.CONSUME(keyword.endcommand);
    this.#commands.push({ metadata, body, s: open.startOffset, e: this.end() });
  });

  readonly #procedure: Rule<void> = this.RULE('procedure', (): void => {
    const open = this.CONSUME(keyword.func);
    this.#begin(open, 'library');
    const signature = this.line(() => this.SUBRULE(this.#signature));
    const metadata = this.SUBRULE(this.#blockMetadata);
    this.blocks.enter(open, keyword.endfunc);
    const body = this.SUBRULE(this.body, { ARGS: [signature !== undefined] });
    if (this.closes()) this.CONSUME(keyword.endfunc);
    const span = { s: open.startOffset, e: this.end() };
    if (signature !== undefined && !this.RECORDING_PHASE) this.#procedures.push({ ...signature, metadata, body, ...span });
  });

  readonly #signature: Rule<Signature> = this.RULE('signature', (): Signature => {
    const token = this.CONSUME(Identifier);
    const signature: Signature = { name: nameOf(token), needs: [], optional: [], returns: [] };
    let parenthesised = false;
    this.OPTION(() => {
      this.CONSUME(punct.openParen);
      parenthesised = true;
    });
    this.MANY(() => this.SUBRULE(this.#clause, { ARGS: [signature] }));
    if (parenthesised) this.CONSUME(punct.closeParen);
    this.CONSUME(keyword.means);
    this.CONSUME(Newline);
    if (!this.RECORDING_PHASE) this.#unique(token);
    return signature;
  });

  #unique(name: IToken): void {
    if (!this.#names.has(name.image)) this.#names.add(name.image);
    else this.report(problemAt(name.startOffset, endOf(name), `the procedure \`${name.image}\` is defined twice in this file`));
  }

  readonly #clause: Rule<void, [Signature]> = this.RULE('clause', (signature: Signature): void => {
    const kind = this.OR<IOrAlt<'needs' | 'optional' | 'returns'>[]>([
      {
        ALT: () => {
          this.CONSUME(keyword.needs);
          return 'needs';
        },
      },
      {
        ALT: () => {
          this.CONSUME(keyword.optional);
          return 'optional';
        },
      },
      {
        ALT: () => {
          this.CONSUME(keyword.returns);
          return 'returns';
        },
      },
    ]);
    const names = [nameOf(this.CONSUME(Identifier))];
    this.MANY(() => {
      this.CONSUME(punct.comma);
      names.push(nameOf(this.CONSUME2(Identifier)));
    });
    if (!this.RECORDING_PHASE) signature[kind].push(...names);
  });
}
