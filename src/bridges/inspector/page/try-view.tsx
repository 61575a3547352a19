import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectedChain, InspectedTurn } from '../inspected-turn.js';
import { tryTurn } from './api.js';
import { show } from './route.js';

/** A prompt for the client, or a turn run again. */
export function TryView({
  turn,
  canTry,
}: {
  /** The turn that is run again; without one, a new prompt. */
  readonly turn?: InspectedTurn;
  readonly chain: InspectedChain | undefined;
  readonly canTry: boolean;
}): JSX.Element {
  const [text, setText] = useState(turn?.questionText ?? '');
  if (!canTry)
    return <p class="empty">The inspector has no client: it shows turns, and starts none.</p>;
  const submit = async (): Promise<void> => {
    const id = await tryTurn({ text, ...(turn && { repeat: turn.id }) });
    show({ view: 'turn', id, tab: 'timeline' });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label>
        Prompt
        <textarea value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <button type="submit">Send</button>
    </form>
  );
}
