import {
  type Connection,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  DocumentHighlightKind,
  ErrorCodes,
  ResponseError,
  SymbolKind,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver';
import { format } from '../../grammar/index.ts';
import { actionsOf } from './actions.ts';
import { complete } from './complete.ts';
import { type Problem, problemsOf } from './diagnose.ts';
import type { DocumentPlace, Range, SourceDocument } from './document.ts';
import { semanticTokens } from './highlight.ts';
import { hover, signatureHelp } from './hover.ts';
import { definitionOf, RenameRefusal, referencesOf, renameRange, renameSpots } from './navigate.ts';
import { folds, outline } from './outline.ts';
import type { Workspace } from './workspace.ts';

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** Most procedures that a search of the workspace lists. */
const MAX_SYMBOLS = 500;

interface At {
  readonly textDocument: { readonly uri: string };
  readonly position: DocumentPlace;
}

/** Answers the requests of a client from the state of its workspace. A document that the workspace does not know has empty answers. */
export class Requests {
  snippets = false;
  readonly #connection: Connection;
  readonly #workspace: Workspace;
  /** The problems of each open document as they were last published. */
  readonly #problems = new Map<string, readonly Problem[]>();

  constructor(connection: Connection, workspace: Workspace) {
    this.#connection = connection;
    this.#workspace = workspace;
    connection.onCompletion((at) =>
      this.#at(at, [], (document) => [...complete(document, at.position, workspace, this.snippets)]),
    );
    connection.onHover((at) => this.#at(at, null, (document) => hover(document, at.position, workspace)));
    connection.onSignatureHelp((at) => this.#at(at, null, (document) => signatureHelp(document, at.position, workspace)));
    connection.onDefinition((at) => this.#at(at, null, (document) => definitionOf(document, at.position, workspace)));
    connection.onReferences((at) =>
      this.#at(at, [], (document) =>
        referencesOf(document, at.position, workspace).filter(({ defines }) => at.context.includeDeclaration || !defines),
      ),
    );
    connection.onDocumentHighlight((at) =>
      this.#at(at, [], (document) =>
        referencesOf(document, at.position, workspace)
          .filter(({ uri }) => uri === document.uri)
          .map(({ range, defines }) => ({ range, kind: defines ? DocumentHighlightKind.Write : DocumentHighlightKind.Read })),
      ),
    );
    connection.onPrepareRename((at) => this.#at(at, null, (document) => refusing(() => renameRange(document, at.position))));
    connection.onRenameRequest((at) => this.#at(at, null, (document) => this.#rename(document, at.position, at.newName)));
    connection.onDocumentSymbol(({ textDocument }) => this.#in(textDocument, [], (document) => [...outline(document)]));
    connection.onWorkspaceSymbol(({ query }) => this.#symbols(query.toLowerCase()));
    connection.onFoldingRanges(({ textDocument }) => this.#in(textDocument, [], (document) => [...folds(document)]));
    connection.onDocumentFormatting(({ textDocument }) => this.#in(textDocument, [], (document) => [...layoutEdits(document)]));
    connection.onCodeAction(({ textDocument, range, context }) =>
      this.#in(textDocument, [], (document) => {
        const { environment } = this.#workspace.surroundings(document);
        const asked = { range, only: context.only, environment };
        return actionsOf(document, this.#problems.get(document.uri) ?? [], asked, diagnosticOf);
      }),
    );
    connection.languages.semanticTokens.on(({ textDocument }) => this.#in(textDocument, { data: [] }, semanticTokens));
  }

  /** Sends the problems of an open document. */
  publish(uri: string): void {
    const document = this.#workspace.document(uri);
    if (document === undefined) return;
    const problems = problemsOf(document, this.#workspace.surroundings(document));
    this.#problems.set(uri, problems);
    void this.#connection.sendDiagnostics({ uri, diagnostics: problems.map(diagnosticOf) });
  }

  #at<Answer>({ textDocument }: At, otherwise: Answer, answer: (document: SourceDocument) => Answer): Answer {
    return this.#in(textDocument, otherwise, answer);
  }

  #in<Answer>({ uri }: { readonly uri: string }, otherwise: Answer, answer: (document: SourceDocument) => Answer): Answer {
    const document = this.#workspace.document(uri);
    return document === undefined ? otherwise : answer(document);
  }

  #rename(document: SourceDocument, place: DocumentPlace, name: string): WorkspaceEdit {
    const spots = refusing(() => renameSpots(document, place, name, this.#workspace));
    const changes: Record<string, TextEdit[]> = {};
    for (const { uri, range } of spots) {
      changes[uri] ??= [];
      changes[uri].push({ range, newText: name });
    }
    return { changes };
  }

  #symbols(query: string) {
    return this.#workspace.documents
      .flatMap((document) =>
        document.procedures
          .filter(({ procedure }) => procedure.name.name.toLowerCase().includes(query))
          .map(({ placed, procedure }) => ({
            name: procedure.name.name,
            kind: SymbolKind.Function,
            location: { uri: document.uri, range: document.rangeOf(placed, procedure.name) },
          })),
      )
      .slice(0, MAX_SYMBOLS);
  }
}

function diagnosticOf({ range, severity, code, message, hint }: Problem): Diagnostic {
  return {
    range,
    severity: SEVERITIES[severity],
    code,
    source: 'neuroscript',
    message: hint === undefined ? message : `${message}\n${hint}`,
    ...(UNUSED.has(code) ? { tags: [DiagnosticTag.Unnecessary] } : {}),
  };
}

/** Findings about what a program could do without; editors show it faded. */
const UNUSED: ReadonlySet<string> = new Set(['LINT_UNUSED_VARIABLE', 'LINT_UNUSED_PARAMETER', 'LINT_UNREACHABLE']);

/** Turns a refusal into the error that the editor shows. */
function refusing<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof RenameRefusal) throw new ResponseError(ErrorCodes.InvalidRequest, error.message);
    throw error;
  }
}

/** The edit that gives a document its canonical layout: none when it has it, or has syntax errors. Replaces only the lines that differ. */
export function layoutEdits({
  text,
  lineCount,
  uri,
}: SourceDocument): readonly { readonly range: Range; readonly newText: string }[] {
  const result = format(text, { name: uri });
  if (!result.ok) return [];
  const before = text.split(/\r\n?|\n/);
  const after = result.text.split('\n');
  let top = 0;
  while (top < before.length && top < after.length && before[top] === after[top]) top += 1;
  let bottom = 0;
  while (bottom < before.length - top && bottom < after.length - top && before.at(-1 - bottom) === after.at(-1 - bottom))
    bottom += 1;
  if (top === before.length && top === after.length) return [];
  const end = lineCount - bottom;
  const lines = after.slice(top, after.length - bottom);
  // Whole lines change, each with its end; the last line of a document has none.
  if (bottom > 0) return [{ range: range(top, 0, end, 0), newText: lines.map((line) => `${line}\n`).join('') }];
  if (top > 0)
    return [
      {
        range: range(top - 1, before[top - 1]?.length ?? 0, end - 1, before.at(-1)?.length ?? 0),
        newText: lines.map((line) => `\n${line}`).join(''),
      },
    ];
  return [{ range: range(0, 0, end - 1, before.at(-1)?.length ?? 0), newText: lines.join('\n') }];
}

function range(fromLine: number, fromCharacter: number, toLine: number, toCharacter: number): Range {
  return { start: { line: fromLine, character: fromCharacter }, end: { line: toLine, character: toCharacter } };
}
