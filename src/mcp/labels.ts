import { META } from '../tools/index.ts';
import { isRecord } from '../wire/unknown.ts';

/** The labels of an answer: by `ifc` of its `_meta`, `otherwise` without it, and by that of its parts. */
export function serverLabels(meta: unknown, parts: readonly unknown[], otherwise: readonly string[]): readonly string[] {
  const within = parts.filter(isRecord).flatMap((part) => [part, ...(isRecord(part['resource']) ? [part['resource']] : [])]);
  return [...new Set([...(ifcLabels(meta) ?? otherwise), ...within.flatMap((part) => ifcLabels(part['_meta']) ?? [])])];
}

/** The labels of what a tool answers, by its annotations. By the protocol, a tool that does not deny it works with an open world. */
export function hintedLabels(annotations: unknown): readonly string[] {
  return isRecord(annotations) && annotations['openWorldHint'] === false ? [] : [META.untrusted];
}

/** Null without `ifc`. With it, only what says that it is trusted, or public, is so. */
function ifcLabels(meta: unknown): readonly string[] | null {
  if (!isRecord(meta) || meta['ifc'] === undefined) return null;
  const { integrity, confidentiality } = isRecord(meta['ifc']) ? meta['ifc'] : {};
  const isPublic = [confidentiality].flat().includes('public');
  return [...(integrity === 'trusted' ? [] : [META.untrusted]), ...(isPublic ? [] : [META.private])];
}
