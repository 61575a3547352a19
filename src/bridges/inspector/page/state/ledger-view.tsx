import type { JSX } from 'preact';
import type { InspectedTurn } from '../../inspected-turn.js';
import { cost } from '../parts/format.js';
import { Scroll } from '../parts/scroll.js';

const KINDS = { chat: 'Chat', embedding: 'Embedding', rerank: 'Rerank' };

/** The calls of the models of a turn, with their tokens, and the sums. */
export function LedgerView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const { ledger, usage } = turn;
  return (
    <section aria-labelledby="ledger-title">
      <h3 id="ledger-title">Calls of models</h3>
      {ledger.length === 0 ? (
        <p class="muted">No model was called.</p>
      ) : (
        <Scroll label="Table of the calls of models">
          <table>
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col">Model</th>
                <th scope="col" class="number">
                  Tokens in
                </th>
                <th scope="col" class="number">
                  from cache
                </th>
                <th scope="col" class="number">
                  Tokens out
                </th>
                <th scope="col" class="number">
                  reasoning
                </th>
                <th scope="col" class="number">
                  Cost
                </th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {ledger.map((record, at) => (
                <Row key={at} record={record} />
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={2}>
                  Turn
                </th>
                <Tokens count={usage?.inputTokens} />
                <Tokens count={usage?.cachedInputTokens} />
                <Tokens count={usage?.outputTokens} />
                <Tokens count={usage?.reasoningTokens} />
                <td class="number">{turn.cost === undefined ? '–' : cost(turn.cost)}</td>
                <td />
              </tr>
            </tfoot>
          </table>
        </Scroll>
      )}
    </section>
  );
}

function Row({ record }: { readonly record: InspectedTurn['ledger'][number] }): JSX.Element {
  const { kind, iteration, attempt, model, usage, outcome, isReplayed } = record;
  return (
    <tr>
      <th scope="row">
        {KINDS[kind]}
        {iteration !== undefined && `, iteration ${iteration + 1}`}
        {attempt > 1 && `, attempt ${attempt}`}
      </th>
      <td>
        <bdi>{model ?? '–'}</bdi>
      </td>
      <Tokens count={usage?.inputTokens} />
      <Tokens count={usage?.cachedInputTokens} />
      <Tokens count={usage?.outputTokens} />
      <Tokens count={usage?.reasoningTokens} />
      <td class="number">{record.cost === undefined ? '–' : cost(record.cost)}</td>
      <td>
        <span class={outcome === 'failed' ? 'label bad' : 'label'}>{outcome}</span>
        {isReplayed && <span class="label changed">replayed from a record</span>}
      </td>
    </tr>
  );
}

function Tokens({ count }: { readonly count: number | undefined }): JSX.Element {
  return <td class="number">{count === undefined ? '–' : count.toLocaleString('en')}</td>;
}
