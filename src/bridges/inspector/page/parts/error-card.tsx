import type { JSX } from 'preact';
import type { InspectedError } from '../../inspected-turn.js';
import { ShownText } from './text.js';

/** An error, with the advisor that it came from. */
export function ErrorCard({ error }: { readonly error: InspectedError }): JSX.Element {
  const { name, message, code, advisor } = error;
  return (
    <div class="card error">
      <p class="error-name">
        <bdi>{name}</bdi>
        {code !== undefined && (
          <>
            {' '}
            <code>
              <bdi>{code}</bdi>
            </code>
          </>
        )}
      </p>
      <p>
        <ShownText text={message} limit={1_000} />
      </p>
      {advisor !== undefined && (
        <p class="muted">
          from the advisor <bdi class="strong">{advisor}</bdi>
        </p>
      )}
    </div>
  );
}
