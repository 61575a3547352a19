import type { JSX } from 'preact';
import type { InspectedTurn } from '../inspected-turn.js';
import { chainDifferences } from './compare/chain-differences.js';
import { figuresOf } from './compare/figures.js';
import { RequestPairs } from './compare/request-pairs.js';
import { useTurn } from './compare/use-turn.js';
import { LongText } from './parts/exact-text.js';
import { Scroll } from './parts/scroll.js';
import { TextDifference } from './requests/text-difference.js';
import { hashOf } from './route.js';

/** Two turns side by side: their answers, requests and figures, and what differs. */
export function CompareView({
  left,
  right,
}: {
  /** Ids of the turns. */
  readonly left: string;
  readonly right: string;
}): JSX.Element {
  const a = useTurn(left);
  const b = useTurn(right);
  const problem = a.problem || b.problem;
  return (
    <section class="compare" aria-labelledby="compare-title">
      <a class="back" href="#/">
        ← All turns
      </a>
      <h2 id="compare-title">A and B</h2>
      {problem !== '' && (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      {a.turn && b.turn ? (
        <Comparison left={a.turn} right={b.turn} />
      ) : (
        problem === '' && <p class="muted">Reading the turns …</p>
      )}
    </section>
  );
}

interface Pair {
  readonly left: InspectedTurn;
  readonly right: InspectedTurn;
}

function Comparison({ left, right }: Pair): JSX.Element {
  const isRunning = [left, right].some(({ outcome }) => outcome === 'running');
  return (
    <>
      <p role="status" class="muted">
        {isRunning ? 'Running …' : 'Both turns have ended.'}
      </p>
      <div class="pair">
        <Answer name="A" turn={left} />
        <Answer name="B" turn={right} />
      </div>
      {!isRunning && (
        <section aria-labelledby="answers-title">
          <h3 id="answers-title">Difference of the answers</h3>
          {left.answerText === right.answerText ? (
            <p class="muted">They are the same.</p>
          ) : (
            <div class="card">
              <TextDifference before={left.answerText} after={right.answerText} />
            </div>
          )}
        </section>
      )}
      <Figures left={left} right={right} />
      <Chains left={left} right={right} />
      <RequestPairs left={left.requests} right={right.requests} />
    </>
  );
}

function Answer({
  name,
  turn,
}: {
  readonly name: string;
  readonly turn: InspectedTurn;
}): JSX.Element {
  return (
    <article class="card" aria-label={`Turn ${name}`}>
      <h3>
        <a href={hashOf({ view: 'turn', id: turn.id, tab: 'timeline' })}>{name}</a>{' '}
        <span class={turn.outcome === 'failed' ? 'label bad' : 'label'}>{turn.outcome}</span>
      </h3>
      <p class="muted">
        <LongText text={turn.questionText} limit={300} />
      </p>
      <LongText text={turn.answerText} />
      {turn.error && (
        <p class="note bad">
          <bdi>{turn.error.message}</bdi>
        </p>
      )}
    </article>
  );
}

function Figures({ left, right }: Pair): JSX.Element {
  return (
    <section aria-labelledby="figures-title">
      <h3 id="figures-title">Figures</h3>
      <Scroll label="Figures">
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col" class="number">
                A
              </th>
              <th scope="col" class="number">
                B
              </th>
              <th scope="col" class="number">
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            {figuresOf(left, right).map(({ name, values: [a, b], difference }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">
                  <bdi>{a ?? '–'}</bdi>
                </td>
                <td class="number">
                  <bdi>{b ?? '–'}</bdi>
                </td>
                <td class="number">{difference ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Chains({ left, right }: Pair): JSX.Element {
  const differences = chainDifferences(left.chain, right.chain);
  return (
    <section aria-labelledby="chains-title">
      <h3 id="chains-title">Chains</h3>
      {differences.length === 0 ? (
        <p class="muted">Both have the same advisors.</p>
      ) : (
        <ul class="changes">
          {differences.map(({ advisor, words }) => (
            <li key={advisor} class="change changed">
              <bdi class="advisor-name">{advisor}</bdi> <bdi>{words}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
