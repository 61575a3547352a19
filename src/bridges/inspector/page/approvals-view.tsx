import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Decision, PendingRequest } from '../../../core/chat/paused-turn.js';
import type { InspectedTurn } from '../inspected-turn.js';
import { decide } from './api.js';
import { DecisionForm } from './approvals/decision-form.js';
import { type Draft, decisionOf, draftOf } from './approvals/draft.js';
import { RequestFacts } from './approvals/request-facts.js';
import { plural } from './requests/change-words.js';
import { show } from './route.js';

/** Requests of a turn that wait for a decision, which is made here. */
export function ApprovalsView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  return <Approvals key={turn.id} turn={turn} />;
}

function Approvals({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const { pending, isLive } = turn;
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const draft = (request: PendingRequest): Draft => drafts[request.id] ?? draftOf(request);
  const decided = pending.filter((request) => draft(request).type !== undefined).length;

  const submit = async (): Promise<void> => {
    const decisions: Record<string, Decision> = {};
    const found: Record<string, string> = {};
    for (const request of pending) {
      const written = decisionOf(request, draft(request));
      if (written === undefined) continue;
      if ('decision' in written) decisions[request.id] = written.decision;
      else found[request.id] = written.problem;
    }
    setProblems(found);
    setProblem('');
    if (Object.keys(found).length > 0) return;
    setSending(true);
    try {
      show({ view: 'turn', id: await decide(turn.id, decisions), tab: 'timeline' });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setSending(false);
    }
  };

  return (
    <section class="approvals" aria-labelledby="approvals-title">
      <h2 id="approvals-title">
        {pending.length === 1
          ? 'The turn waits for a decision'
          : `The turn waits for ${plural(pending.length, 'decision')}`}
      </h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {pending.map((request) => (
          <fieldset key={request.id} class="pending" disabled={isSending}>
            <legend>{TITLES[request.type]}</legend>
            <RequestFacts request={request} />
            {isLive && (
              <DecisionForm
                request={request}
                draft={draft(request)}
                onChange={(next) => setDrafts({ ...drafts, [request.id]: next })}
              />
            )}
            {problems[request.id] !== undefined && (
              <p class="note bad" role="alert">
                {problems[request.id]}
              </p>
            )}
          </fieldset>
        ))}
        {isLive ? (
          <p class="send">
            <button type="submit" class="primary" disabled={decided === 0 || isSending}>
              {isSending ? 'Continuing …' : 'Continue the turn'}
            </button>
            {pending.length > 1 && (
              <span class="muted">
                {decided} of {pending.length} decided; the others stay open
              </span>
            )}
          </p>
        ) : (
          <p class="muted">
            This turn cannot be resumed here: it is one of a file, or it was dropped.
          </p>
        )}
        <p role="alert">{problem}</p>
      </form>
    </section>
  );
}

const TITLES: Readonly<Record<PendingRequest['type'], string>> = {
  approval: 'May the tool run?',
  question: 'A question',
  'client-tool': 'A tool that the client runs',
};
