import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectedChain, InspectedTurn } from '../inspected-turn.js';
import type { TurnToTry } from '../page-messages.js';
import { tryTurn } from './api.js';
import { show } from './route.js';
import { NO_CHANGES, partOf, type Variant, type VariantProblems } from './try/variant.js';
import { VariantForm } from './try/variant-form.js';

/** The view that is shown when the turn has started. */
type Then = 'turn' | 'original' | 'both';

interface TryProps {
  /** The turn that is run again; without one, a new prompt. */
  readonly turn?: InspectedTurn;
  readonly chain: InspectedChain | undefined;
  readonly canTry: boolean;
}

/** A prompt for the client, or a turn run again, with changes of the chain; two of them to compare. */
export function TryView({ turn, chain, canTry }: TryProps): JSX.Element {
  return (
    <section class="try" aria-labelledby="try-title">
      <h2 id="try-title">{turn ? 'Run this turn again' : 'Try a prompt'}</h2>
      {canTry ? (
        <TryForm key={turn?.id} turn={turn} chain={chain} />
      ) : (
        <p class="empty">
          {turn
            ? 'This turn cannot be run again here: it is one of a file, or it was dropped.'
            : 'The inspector has no client: it shows turns, and starts none.'}
        </p>
      )}
    </section>
  );
}

function TryForm({
  turn,
  chain,
}: Pick<TryProps, 'chain'> & { readonly turn: InspectedTurn | undefined }) {
  const [text, setText] = useState(turn?.questionText ?? '');
  const [conversation, setConversation] = useState('');
  const [mode, setMode] = useState<'call' | 'stream'>(turn?.mode ?? 'stream');
  const [then, setThen] = useState<Then>(turn ? 'original' : 'turn');
  const [variants, setVariants] = useState<readonly [Variant, Variant]>([NO_CHANGES, NO_CHANGES]);
  const [problems, setProblems] = useState<readonly VariantProblems[]>([{}, {}]);
  const [problem, setProblem] = useState('');
  const [isRunning, setRunning] = useState(false);

  const submit = async (): Promise<void> => {
    if (isRunning) return; // keys that repeat, for which a disabled button is none
    const used = then === 'both' ? variants : variants.slice(0, 1);
    const parts = used.map((variant) => partOf(variant, chain?.advisors ?? []));
    setProblems(parts.map((part) => ('problems' in part ? part.problems : {})));
    setProblem('');
    if (parts.some((part) => 'problems' in part)) return;
    const asked: TurnToTry = {
      mode,
      ...(turn && { repeat: turn.id }),
      ...(!(turn && text === turn.questionText) && { text }),
      ...(conversation !== '' && { conversationId: conversation }),
    };
    setRunning(true);
    try {
      const bodies = parts.map((part) => ({ ...asked, ...('part' in part && part.part) }));
      // One after the other: both may use one conversation.
      const ids: string[] = [];
      for (const body of bodies) ids.push(await tryTurn(body));
      const [first = '', second] = ids;
      if (second !== undefined) show({ view: 'compare', left: first, right: second });
      else if (then === 'original' && turn) show({ view: 'compare', left: turn.id, right: first });
      else show({ view: 'turn', id: first, tab: 'timeline' });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setRunning(false);
    }
  };
  // The inspector records the turn: it cannot be changed.
  const changeable = chain && {
    ...chain,
    advisors: chain.advisors.filter(({ name }) => name !== 'inspector'),
  };
  const form = (at: 0 | 1, title: string): JSX.Element => (
    <VariantForm
      title={title}
      chain={changeable}
      variant={variants[at]}
      problems={problems[at] ?? {}}
      onChange={(variant) =>
        setVariants(at === 0 ? [variant, variants[1]] : [variants[0], variant])
      }
    />
  );

  return (
    <form
      class={then === 'both' ? 'two' : undefined}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
          event.currentTarget.requestSubmit();
      }}
    >
      <label>
        Prompt
        <textarea
          rows={3}
          required={!turn}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <div class="row">
        <label>
          Conversation
          <input
            type="text"
            placeholder={turn ? 'a copy of its own, as it was' : 'a new one'}
            value={conversation}
            onInput={({ currentTarget }) => setConversation(currentTarget.value)}
          />
        </label>
        <label>
          Mode
          <select
            value={mode}
            onChange={({ currentTarget }) => setMode(currentTarget.value as typeof mode)}
          >
            <option value="stream">stream</option>
            <option value="call">call</option>
          </select>
        </label>
        <label>
          Afterwards
          <select
            value={then}
            onChange={({ currentTarget }) => setThen(currentTarget.value as Then)}
          >
            {turn && <option value="original">compare it with the first one</option>}
            <option value="turn">show the turn</option>
            <option value="both">run a second one (A and B), and compare them</option>
          </select>
        </label>
      </div>
      {then === 'both' ? (
        <div class="variants">
          {form(0, 'A')}
          {form(1, 'B')}
        </div>
      ) : (
        form(0, 'Changes for this turn')
      )}
      <p class="send">
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Starting …' : then === 'both' ? 'Run A and B' : turn ? 'Run again' : 'Run'}
        </button>
      </p>
      <p role="alert">{problem}</p>
    </form>
  );
}
