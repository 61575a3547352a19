import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { StreamFold } from '../../core/chat/stream-fold.js';
import { isPlainObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';

/**
 * Adds the annotations of a text as citations, and emits them. Chat completions have their fields
 * in an object that is named by its type; a text is an address.
 *
 * @param start offset of the text in the answer
 */
export function addAnnotations(
  fold: StreamFold,
  annotations: unknown,
  emit: (event: ChatEvent) => void,
  start = 0,
): void {
  for (const each of listOf(annotations)) {
    const annotation = typeof each === 'string' ? { url: each } : each;
    if (!isPlainObject(annotation)) continue;
    const nested = annotation[String(annotation['type'])];
    const fields = isPlainObject(nested) ? nested : annotation;
    const [from, to] = [fields['start_index'], fields['end_index']].map((index) =>
      typeof index === 'number' ? start + index : undefined,
    );
    emit(fold.addCitation(annotation, { start: from, end: to }, fields));
  }
}
