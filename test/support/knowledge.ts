import type { Document } from '../../src/core/chat/document.js';
import type { DocumentStore } from '../../src/stores/vectors/document-store.js';

/** Everything that a namespace has, to be compared with another one. */
export function stateOf(store: DocumentStore, namespace = 'n'): Promise<readonly Document[]> {
  return store.list(namespace, { withVectors: true });
}

/** A text of some sections, each a chunk of its own. */
export function textOf(...sections: readonly string[]): string {
  return sections.map((each, at) => `# Section ${at}\n\n${`${each} `.repeat(15)}\n`).join('\n');
}

export function documentsOf(texts: Readonly<Record<string, string>>): readonly Document[] {
  return Object.entries(texts).map(([id, text]) => ({ id, text }));
}
