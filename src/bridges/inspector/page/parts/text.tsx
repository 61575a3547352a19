import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { bytes } from './format.js';

/** Characters that are shown before the reader asks for more, and at most: a browser needs seconds for megabytes without a line break. */
const SHORT = 2_000;
const MAX = 200_000;

/**
 * A text of a turn: shown as text, apart from the direction of the text around it, with its line breaks, and cut if it is long.
 */
export function ShownText({
  text,
  limit = SHORT,
  mono = false,
}: {
  readonly text: string;
  /** Characters before "show all". */
  readonly limit?: number;
  readonly mono?: boolean;
}): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const end = isWhole ? MAX : limit;
  const isCut = text.length > end;
  return (
    <span class={mono ? 'text mono' : 'text'}>
      <bdi>{isCut ? beginning(text, end) : text}</bdi>
      {isCut && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          show all ({bytes(text.length)})
        </button>
      )}
      {isCut && isWhole && (
        <span class="muted"> … {bytes(text.length - MAX)} more; export the turn to read it</span>
      )}
    </span>
  );
}

/** The first characters of a text, without half of a pair. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length)}…`;
}
