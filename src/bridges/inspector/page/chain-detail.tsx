import type { ComponentChildren, JSX } from 'preact';
import type { JsonValue } from '../../../core/internal/json.js';
import type { InspectedAdvisor, InspectedChain } from '../inspected-turn.js';
import { JsonView } from './parts/json-view.js';

const PLACES: Readonly<Record<InspectedAdvisor['place'], string>> = {
  turn: 'once per turn',
  loop: 'runs the tool loop',
  iteration: 'once per iteration',
  tool: 'around tool calls',
};

/** An advisor, the model or the tools of a chain. */
export function ChainDetail({
  chain,
  chosen,
  close,
}: {
  readonly chain: InspectedChain;
  /** Key of its box. */
  readonly chosen: string;
  readonly close: () => void;
}): JSX.Element | null {
  const advisor = chain.advisors[Number(chosen)];
  if (chosen === 'model')
    return (
      <Card title={chain.model?.name ?? 'Model'} close={close}>
        <Facts facts={[['Provider', chain.model?.provider]]} />
        <Options options={chain.options} />
      </Card>
    );
  if (chosen === 'tools')
    return (
      <Card title="Tools" close={close}>
        <ToolNames tools={chain.tools} />
      </Card>
    );
  if (!advisor) return null;
  const { name, order, place, aroundToolCalls, role, traits, options, warnings } = advisor;
  const around = aroundToolCalls && place !== 'tool' ? ', and around tool calls' : '';
  return (
    <Card title={name} close={close}>
      <Facts
        facts={[
          ['Runs', `${PLACES[place]}${around}`],
          ['Order', String(order)],
          ['Role', role],
          ['Traits', traits.join(', ')],
        ]}
      />
      {warnings.map((warning) => (
        <p key={warning} class="warning">
          <bdi>{warning}</bdi>
        </p>
      ))}
      <Options options={options} />
    </Card>
  );
}

function Card({
  title,
  close,
  children,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card chain-detail" aria-labelledby="chain-detail-title">
      <div class="section-head">
        <h3 id="chain-detail-title">
          <bdi>{title}</bdi>
        </h3>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </div>
      {children}
    </section>
  );
}

function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [string, string | undefined])[];
}): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Options({ options }: { readonly options: JsonValue }): JSX.Element {
  const isEmpty = typeof options === 'object' && Object.keys(options ?? {}).length === 0;
  if (isEmpty) return <p class="muted">No options are set: it works with its defaults.</p>;
  return <JsonView value={options} name="options" />;
}

function ToolNames({ tools }: { readonly tools: InspectedChain['tools'] }): JSX.Element {
  if (tools.length === 0) return <p class="muted">The model is offered no tools.</p>;
  return (
    <ul class="chips">
      {tools.map(({ name, isDeferred }) => (
        <li key={name} class="chip">
          <bdi>{name}</bdi>
          {isDeferred && <span class="muted"> deferred until it is found</span>}
        </li>
      ))}
    </ul>
  );
}
