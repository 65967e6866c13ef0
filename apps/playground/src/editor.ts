import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint';
import { EditorState, RangeSetBuilder, StateEffect, StateField, type Text } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { canonicalName } from '../../../grammar/vocabulary/names.ts';
import { problemsOf, type Surroundings } from '../../../src/lsp/diagnose.ts';
import { type DocumentPlace, SourceDocument } from '../../../src/lsp/document.ts';
import { coloursOf } from '../../../src/lsp/highlight.ts';
import { KEYWORD_WORDS } from '../../../src/lsp/words.ts';
import { SIGNATURES } from '../../../src/wire/pure/signatures.ts';

/** The tools whose calls the editor knows: the standard ones of a page, and the names that the page defines. */
export interface Known {
  tools: readonly string[];
}

/** What the page does with the editor. */
export interface EditorActs {
  readonly run: () => void;
  /** The program is another one now. */
  readonly changed: () => void;
}

const failing = StateEffect.define<number | null>();

/** The line at which the last run failed, until the program changes. */
const failure = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marked, { docChanged, effects, state }) {
    const line = effects.find((effect) => effect.is(failing))?.value;
    if (line === undefined) return docChanged ? Decoration.none : marked;
    if (line === null || line < 1 || line > state.doc.lines) return Decoration.none;
    return Decoration.set(Decoration.line({ class: 'is-failing' }).range(state.doc.line(line).from));
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks the line at which a run failed; null for none. */
export function markFailure(view: EditorView, line: number | null): void {
  view.dispatch({ effects: failing.of(line) });
}

/** An editor with the colours, the problems and the quick fixes of the language server. */
export function createEditor(parent: Element, known: Known, { run, changed }: EditorActs): EditorView {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        closeBrackets(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorState.tabSize.of(2),
        colours,
        failure,
        EditorView.updateListener.of(({ docChanged }) => docChanged && changed()),
        lintGutter(),
        linter(({ state }) => diagnostics(state.doc, known), { delay: 200 }),
        autocompletion({ override: [(context) => complete(context, known)] }),
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              run();
              return true;
            },
          },
          ...defaultKeymap,
          ...historyKeymap,
          // Escape, then Tab leaves the editor.
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': 'Program' }),
      ],
    }),
  });
  return view;
}

/** The document of an editor in pieces; those of the last version pass over. */
let last = new SourceDocument('page.ns', '');
function documentOf(text: Text): SourceDocument {
  const whole = text.toString();
  if (last.text !== whole) last = new SourceDocument('page.ns', whole, last);
  return last;
}

const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor({ state }: EditorView) {
      this.decorations = decorate(state.doc);
    }
    update({ docChanged, state }: ViewUpdate): void {
      if (docChanged) this.decorations = decorate(state.doc);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

const marks = new Map<string, Decoration>();
function markOf(type: string): Decoration {
  const known = marks.get(type) ?? Decoration.mark({ class: `ns-${type}` });
  marks.set(type, known);
  return known;
}

function decorate(text: Text): DecorationSet {
  const document = documentOf(text);
  const builder = new RangeSetBuilder<Decoration>();
  for (const placed of document.pieces)
    for (const { s, e, type } of coloursOf(placed.piece)) {
      const from = offsetOf(text, document.placeOf(placed, s));
      const to = offsetOf(text, document.placeOf(placed, e));
      if (to > from) builder.add(from, to, markOf(type));
    }
  return builder.finish();
}

function offsetOf(text: Text, { line, character }: DocumentPlace): number {
  if (line >= text.lines) return text.length;
  const { from, to } = text.line(line + 1);
  return Math.min(from + character, to);
}

function diagnostics(text: Text, known: Known): Diagnostic[] {
  const document = documentOf(text);
  return problemsOf(document, surroundings(known)).map(({ range, severity, message, hint, edits }) => ({
    from: offsetOf(text, range.start),
    to: offsetOf(text, range.end),
    severity,
    message: hint === undefined ? message : `${message}: ${hint}`,
    actions:
      edits.length === 0
        ? []
        : [
            {
              name: 'Fix',
              apply: (view) =>
                view.dispatch({
                  changes: edits.map((edit) => ({
                    from: offsetOf(text, edit.range.start),
                    to: offsetOf(text, edit.range.end),
                    insert: edit.text,
                  })),
                }),
            },
          ],
  }));
}

const PURE = Object.entries(SIGNATURES).map(([name, signature]) => {
  const args = signature === '' ? [] : signature.split(',');
  return {
    name: canonicalName(name),
    least: args.filter((each) => !each.includes('?')).length,
    most: args.length,
    pure: true as const,
  };
});

function surroundings({ tools }: Known): Surroundings {
  const own = tools.map((name) => ({ name: canonicalName(name), least: 0, most: 100 }));
  return { key: tools.join(' '), environment: { tools: [...PURE, ...own], complete: true }, procedures: new Map() };
}

function complete(context: CompletionContext, { tools }: Known): CompletionResult | null {
  const typed = context.matchBefore(/[\w.]+/);
  if (typed === null && !context.explicit) return null;
  const from = typed?.from ?? context.pos;
  const options: Completion[] = [
    ...[...Object.keys(SIGNATURES), ...tools].map((label) => ({
      label: label.startsWith('tool.') ? label : `tool.${label}`,
      type: 'function',
    })),
    ...Object.entries(KEYWORD_WORDS).map(([label, info]) => ({ label, info, type: 'keyword' })),
    ...[...new Set(documentOf(context.state.doc).pieces.flatMap(({ piece }) => piece.names.uses))]
      .filter(({ kind, e }) => (kind === 'variable' || kind === 'procedure') && e !== context.pos)
      .map(({ name, kind }) => ({ label: name, type: kind === 'procedure' ? 'function' : 'variable' })),
  ];
  const seen = new Set<string>();
  return { from, options: options.filter(({ label }) => !seen.has(label) && seen.add(label)), validFor: /^[\w.]*$/ };
}
