import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectedTurn, TurnSummary } from '../inspected-turn.js';
import { cancelTurn, exportAddress } from './api.js';
import { ErrorCard } from './parts/error-card.js';
import { cost, count, dateAndTime, duration } from './parts/format.js';
import { Outcome } from './parts/outcome.js';
import { ShownText } from './parts/text.js';
import { canTry } from './store.js';
import { cachedShare } from './timeline-figures.js';

const QUESTION_LENGTH = 600;
const SOURCES: Readonly<Record<TurnSummary['source'], string | undefined>> = {
  application: undefined,
  page: 'started here',
  file: 'opened from a file',
};

/** Question, figures and answer of a turn. */
export function TurnHead({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const { questionText, answerText, reasoningText, error, outcome } = turn;
  return (
    <section class="turn-head" aria-labelledby="turn-title">
      <a class="back" href="#/">
        ← All turns
      </a>
      <div class="turn-line">
        <Outcome outcome={outcome} withWord />
        <span class="muted">
          {dateAndTime(turn.startedAt)} · {turn.mode}
          {SOURCES[turn.source] && ` · ${SOURCES[turn.source]}`}
        </span>
        <Actions turn={turn} />
      </div>
      <h2 id="turn-title">
        <ShownText
          text={questionText === '' ? 'No question' : questionText}
          limit={QUESTION_LENGTH}
        />
      </h2>
      <Figures turn={turn} />
      {error && <ErrorCard error={error} />}
      {reasoningText !== undefined && reasoningText !== '' && (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <ShownText text={reasoningText} />
        </details>
      )}
      {answerText !== '' && (
        <div class={outcome === 'running' ? 'answer streaming' : 'answer'}>
          <h3 class="visually-hidden">Answer</h3>
          <ShownText text={answerText} />
        </div>
      )}
    </section>
  );
}

function Actions({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const [problem, setProblem] = useState('');
  const cancel = (): void => {
    cancelTurn(turn.id).catch((error: Error) => setProblem(error.message));
  };
  return (
    <span class="actions">
      {problem && <span role="alert">{problem}</span>}
      {canTry.value && turn.outcome === 'running' && turn.isLive && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
      {turn.outcome !== 'running' && (
        <a class="button" href={exportAddress(turn.id)} download={`turn-${turn.turnId}.json`}>
          Export
        </a>
      )}
    </span>
  );
}

/** The figures of a turn; those that are unknown are left out. */
function Figures({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const { usage } = turn;
  const figures: readonly (readonly [string, string | undefined])[] = [
    ['Duration', turn.duration === undefined ? undefined : duration(turn.duration)],
    ['First token', turn.firstToken === undefined ? undefined : duration(turn.firstToken)],
    ['Iterations', String(turn.iterations)],
    ['Tool calls', String(turn.toolCalls)],
    ['Tokens in', usage && count(usage.inputTokens)],
    ['Tokens out', usage && count(usage.outputTokens)],
    ['Cached', cachedShare(usage) || undefined],
    ['Cost', turn.cost === undefined ? undefined : cost(turn.cost)],
    ['Model', turn.model],
    ['Conversation', turn.conversationId],
  ];
  return (
    <dl class="figures">
      {figures
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <ShownText text={value ?? ''} limit={80} />
            </dd>
          </div>
        ))}
    </dl>
  );
}
