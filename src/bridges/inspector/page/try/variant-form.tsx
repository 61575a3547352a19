import type { JSX } from 'preact';
import type { InspectedChain } from '../../inspected-turn.js';
import { AdvisorList } from './advisor-list.js';
import type { Variant, VariantProblems } from './variant.js';

/** Options of the model and the advisors of one turn. */
export function VariantForm({
  title,
  chain,
  variant,
  problems,
  onChange,
}: {
  readonly title: string;
  readonly chain: InspectedChain | undefined;
  readonly variant: Variant;
  readonly problems: VariantProblems;
  readonly onChange: (variant: Variant) => void;
}): JSX.Element {
  const changes = Object.keys(variant.advisors).length;
  return (
    <fieldset class="variant">
      <legend>{title}</legend>
      <label>
        Options of the model (JSON)
        <textarea
          class="mono"
          rows={2}
          spellcheck={false}
          placeholder={'{ "temperature": 0 }'}
          value={variant.options}
          onInput={({ currentTarget }) => onChange({ ...variant, options: currentTarget.value })}
        />
      </label>
      {problems['options'] !== undefined && (
        <p class="note bad" role="alert">
          {problems['options']}
        </p>
      )}
      {chain && chain.advisors.length > 0 && (
        <>
          <h3>
            Advisors{' '}
            {changes > 0 && (
              <button
                type="button"
                class="link"
                onClick={() => onChange({ ...variant, advisors: {} })}
              >
                reset
              </button>
            )}
          </h3>
          <AdvisorList
            chain={chain.advisors}
            variant={variant}
            problems={problems}
            onChange={onChange}
          />
        </>
      )}
    </fieldset>
  );
}
