import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { bytes } from './format.js';
import { textPieces } from './hidden-characters.js';
import { beginning } from './text.js';

/**
 * A text as the model reads it: characters that nothing shows are marked with their code, since they can hide
 * or reverse a part of it.
 */
export function ExactText({ text }: { readonly text: string }): JSX.Element {
  const pieces = useMemo(() => textPieces(text), [text]);
  return (
    <bdi>
      {pieces.map((piece, at) =>
        'shown' in piece ? (
          piece.shown
        ) : (
          <span key={at} class="hidden-character" title={piece.name}>
            {piece.code}
            {piece.count > 1 && ` × ${piece.count}`}
          </span>
        ),
      )}
    </bdi>
  );
}

/** Browsers need seconds for megabytes without a line break. */
const MAX = 200_000;

/** An {@link ExactText} with its line breaks, cut if it is long. */
export function LongText({
  text,
  limit = 2_000,
}: {
  readonly text: string;
  /** Characters before "show all". */
  readonly limit?: number;
}): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const end = isWhole ? MAX : limit;
  return (
    <span class="text">
      <ExactText text={beginning(text, end)} />
      {text.length > end && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          show all ({bytes(text.length)})
        </button>
      )}
      {text.length > end && isWhole && (
        <span class="muted"> {bytes(text.length - end)} more; export the turn to read it</span>
      )}
    </span>
  );
}
