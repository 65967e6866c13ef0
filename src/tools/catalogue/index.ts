/** The catalogue of tools as data, as JSON Schemas, as a page and as a text for models. */
export { argumentNotes, type CatalogueArgument, type CatalogueTool, callForm, toolCatalogue } from './entry.ts';
export { type ToolGrammarOptions, toolGrammar } from './grammar.ts';
export { estimateTokens, type ToolPrompt, type ToolPromptOptions, toolPrompt } from './guide.ts';
export { type LibraryEntry, type ProcedurePromptOptions, procedurePrompt } from './procedures.ts';
export { type ToolSchema, toolSchemas } from './schemas.ts';
export { toolMarkdown } from './text.ts';
