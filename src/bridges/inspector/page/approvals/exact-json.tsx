import type { JSX } from 'preact';
import type { JsonValue } from '../../../../core/internal/json.js';
import { LongText } from '../parts/exact-text.js';

/** JSON as a text that hides nothing: all of it is shown, with marks for characters that have no shape. */
export function ExactJson({
  value,
  name,
}: {
  readonly value: JsonValue;
  readonly name: string;
}): JSX.Element {
  return (
    <div class="exact-json">
      <p class="small">{name}</p>
      <div class="mono">
        <LongText text={JSON.stringify(value, null, 2)} limit={8_000} />
      </div>
    </div>
  );
}
