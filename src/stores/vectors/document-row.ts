import type { Document } from '../../core/chat/document.js';
import type { Vector } from './embedding-model.js';

/** A document as a database returns it. */
export interface DocumentRow {
  readonly id: string;
  readonly text: string;
  /** JSON text. */
  readonly metadata: string | null;
  readonly score?: number;
}

export function documentOfRow(row: DocumentRow, vector?: Vector): Document {
  const { id, text, metadata, score } = row;
  return {
    id,
    text,
    ...(metadata !== null && { metadata: JSON.parse(metadata) as Document['metadata'] }),
    ...(score !== undefined && { score }),
    ...(vector && { vector }),
  };
}
