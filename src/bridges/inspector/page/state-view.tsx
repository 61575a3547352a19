import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Message } from '../../../core/chat/message.js';
import type { AdvisorState, InspectedTurn } from '../inspected-turn.js';
import { readStates } from './api.js';
import { isMessages } from './state/conversation.js';
import { FieldsView } from './state/fields-view.js';
import { LedgerView } from './state/ledger-view.js';
import { MemoryView, MessageList } from './state/memory-view.js';

/** The states that advisors keep for the conversation of a turn, and what the turn has used and stored. */
export function StateView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  return (
    <section class="states" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <LedgerView turn={turn} />
      <States key={turn.id} turn={turn} />
      <Stored turn={turn} />
    </section>
  );
}

function States({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const [states, setStates] = useState<readonly AdvisorState[] | undefined>();
  const [problem, setProblem] = useState('');
  const [reading, setReading] = useState(0);
  useEffect(() => {
    let isOpen = true;
    readStates(turn.id).then(
      (read) => {
        if (!isOpen) return;
        setStates(read);
        setProblem('');
      },
      (error: unknown) => {
        if (isOpen) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isOpen = false;
    };
  }, [turn.id, turn.outcome, reading]);
  const shown = states?.filter(({ state }) => Object.keys(state).length > 0) ?? [];
  return (
    <>
      <p class="state-reading">
        <span role="status">
          {problem !== '' && `The states of the advisors could not be read: ${problem}`}
          {problem === '' && states === undefined && 'Reading the states of the advisors …'}
          {states && shown.length === 0 && 'No advisor of this turn shows a state.'}
          {shown.length > 0 &&
            (turn.source === 'file'
              ? 'The states at the time of the export.'
              : 'The present states.')}
        </span>
        {turn.source !== 'file' && (
          <button type="button" onClick={() => setReading(reading + 1)}>
            Read again
          </button>
        )}
      </p>
      {shown.map((each, at) => (
        <StateOf key={at} state={each} at={at} />
      ))}
    </>
  );
}

function StateOf({
  state: { advisor, state },
  at,
}: {
  readonly state: AdvisorState;
  readonly at: number;
}): JSX.Element {
  const { view, transcript, ...rest } = state;
  const isMemory = Array.isArray(view) && (isMessages(transcript) || isMessages(view));
  return (
    <section class="state" aria-labelledby={`state-${at}`}>
      <h3 id={`state-${at}`}>
        <bdi>{advisor}</bdi>
      </h3>
      <FieldsView fields={isMemory ? rest : state} path={[advisor]} />
      {isMemory && (
        <MemoryView
          transcript={(transcript ?? view) as unknown as readonly Message[]}
          view={view as unknown as readonly Message[]}
        />
      )}
    </section>
  );
}

function Stored({ turn: { stored } }: { readonly turn: InspectedTurn }): JSX.Element {
  return (
    <section class="state" aria-labelledby="stored-title">
      <h3 id="stored-title">Stored by this turn</h3>
      {stored.length === 0 && <p class="muted">No memory has stored messages.</p>}
      {stored.map(({ conversationId, messages }, at) => (
        <div key={at}>
          <p class="small">
            Conversation <bdi>{conversationId}</bdi>
          </p>
          <MessageList messages={messages} />
        </div>
      ))}
    </section>
  );
}
