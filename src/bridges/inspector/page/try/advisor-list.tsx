import type { JSX } from 'preact';
import type { InspectedAdvisor } from '../../inspected-turn.js';
import { JsonView } from '../parts/json-view.js';
import { type AdvisorDraft, draftOf, inOrder, orderPast, type Variant } from './variant.js';

const PLACES: Readonly<Record<InspectedAdvisor['place'], string>> = {
  turn: 'once per turn',
  loop: 'the tool loop',
  iteration: 'once per iteration',
  tool: 'around tool calls',
};

/** The advisors of a chain: present or not, their order, their options. */
export function AdvisorList({
  chain,
  variant,
  problems,
  onChange,
}: {
  readonly chain: readonly InspectedAdvisor[];
  readonly variant: Variant;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (variant: Variant) => void;
}): JSX.Element {
  const set = (advisor: InspectedAdvisor, change: Partial<AdvisorDraft>): void => {
    const draft = { ...draftOf(advisor), ...variant.advisors[advisor.name], ...change };
    onChange({ ...variant, advisors: { ...variant.advisors, [advisor.name]: draft } });
  };
  return (
    <ol class="advisors">
      {inOrder(chain, variant).map((advisor) => {
        const move = (direction: -1 | 1): (() => void) | undefined => {
          const order = orderPast(chain, variant, advisor.name, direction);
          return order === undefined ? undefined : () => set(advisor, { order: String(order) });
        };
        return (
          <AdvisorRow
            key={advisor.name}
            advisor={advisor}
            draft={variant.advisors[advisor.name] ?? draftOf(advisor)}
            problem={problems[advisor.name]}
            onChange={(change) => set(advisor, change)}
            onUp={move(-1)}
            onDown={move(1)}
          />
        );
      })}
    </ol>
  );
}

function AdvisorRow({
  advisor,
  draft,
  problem,
  onChange,
  onUp,
  onDown,
}: {
  readonly advisor: InspectedAdvisor;
  readonly draft: AdvisorDraft;
  readonly problem: string | undefined;
  readonly onChange: (change: Partial<AdvisorDraft>) => void;
  readonly onUp: (() => void) | undefined;
  readonly onDown: (() => void) | undefined;
}): JSX.Element {
  const { name, place, order } = advisor;
  const isMoved = draft.isPresent && draft.order !== String(order);
  return (
    <li class={draft.isPresent ? 'advisor' : 'advisor absent'}>
      <div class="advisor-row">
        <label class="check">
          <input
            type="checkbox"
            checked={draft.isPresent}
            onChange={({ currentTarget }) => onChange({ isPresent: currentTarget.checked })}
          />{' '}
          <bdi>{name}</bdi>
        </label>
        <span class="muted small">{PLACES[place]}</span>
        {!draft.isPresent && <span class="label bad">left out</span>}
        {isMoved && <span class="label changed">moved from {order}</span>}
        {draft.options.trim() !== '' && <span class="label changed">other options</span>}
        <span class="moves">
          <button type="button" disabled={!onUp} onClick={onUp} aria-label={`Move ${name} up`}>
            ↑
          </button>
          <button
            type="button"
            disabled={!onDown}
            onClick={onDown}
            aria-label={`Move ${name} down`}
          >
            ↓
          </button>
          <input
            type="number"
            step="any"
            class="order"
            aria-label={`Order of ${name}`}
            value={draft.order}
            onChange={({ currentTarget }) => onChange({ order: currentTarget.value })}
          />
        </span>
      </div>
      <details>
        <summary>
          Options<span class="visually-hidden"> of {name}</span>
        </summary>
        <JsonView value={advisor.options} />
        <label>
          Options in place of these (JSON)
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            placeholder="{ }"
            value={draft.options}
            onInput={({ currentTarget }) => onChange({ options: currentTarget.value })}
          />
        </label>
      </details>
      {problem !== undefined && (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}
