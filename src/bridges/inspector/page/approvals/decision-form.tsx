import type { JSX } from 'preact';
import type { Decision, PendingRequest } from '../../../../core/chat/paused-turn.js';
import { AnswerForm } from './answer-form.js';
import type { Draft } from './draft.js';

type Type = Decision['type'];

const CHOICES: Readonly<Record<PendingRequest['type'], readonly Type[]>> = {
  approval: ['allow', 'deny', 'edit'],
  question: ['answer', 'cancel'],
  'client-tool': ['answer', 'cancel'],
};
const NAMES: Readonly<Record<Type, string>> = {
  allow: 'Allow',
  deny: 'Deny',
  edit: 'Allow with other arguments',
  answer: 'Answer',
  cancel: 'Cancel',
};
const SCOPES = {
  once: 'this call alone',
  conversation: 'all calls of the tool in this conversation',
  always: 'all calls of the tool, from now on',
};

/** The choice of a decision on a request, and what belongs to it. */
export function DecisionForm({
  request,
  draft,
  onChange,
}: {
  readonly request: PendingRequest;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}): JSX.Element {
  return (
    <>
      <div class="choices" role="radiogroup" aria-label="Decision">
        {CHOICES[request.type].map((type) => (
          <label key={type} class="check">
            <input
              type="radio"
              name={`decision-${request.id}`}
              checked={draft.type === type}
              onChange={() => onChange({ ...draft, type })}
            />{' '}
            {request.type === 'client-tool' && type === 'answer' ? 'Give its output' : NAMES[type]}
          </label>
        ))}
      </div>
      <Rest request={request} draft={draft} onChange={onChange} />
    </>
  );
}

function Rest({
  request,
  draft,
  onChange,
}: {
  readonly request: PendingRequest;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}): JSX.Element | null {
  switch (draft.type) {
    case undefined:
      return null;
    case 'allow':
      return request.type === 'approval' && request.scopes.length > 1 ? (
        <label>
          It holds for
          <select
            value={draft.scope}
            onChange={({ currentTarget }) =>
              onChange({ ...draft, scope: currentTarget.value as Draft['scope'] })
            }
          >
            {request.scopes.map((scope) => (
              <option key={scope} value={scope}>
                {SCOPES[scope]}
              </option>
            ))}
          </select>
        </label>
      ) : null;
    case 'deny':
    case 'cancel':
      return (
        <label>
          Reason, which the model reads
          <input
            type="text"
            value={draft.reason}
            onInput={({ currentTarget }) => onChange({ ...draft, reason: currentTarget.value })}
          />
        </label>
      );
    case 'edit':
      return <JsonField label="Arguments (JSON)" draft={draft} onChange={onChange} />;
    case 'answer':
      return request.type !== 'approval' && request.schema ? (
        <AnswerForm
          id={`answer-${request.id}`}
          schema={request.schema}
          texts={draft.answer}
          onChange={(answer) => onChange({ ...draft, answer })}
        />
      ) : (
        <JsonField label="Output (JSON)" draft={draft} onChange={onChange} />
      );
  }
}

function JsonField({
  label,
  draft,
  onChange,
}: {
  readonly label: string;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}): JSX.Element {
  return (
    <label>
      {label}
      <textarea
        class="mono"
        rows={Math.min(16, Math.max(3, draft.json.split('\n').length))}
        spellcheck={false}
        value={draft.json}
        onInput={({ currentTarget }) => onChange({ ...draft, json: currentTarget.value })}
      />
    </label>
  );
}
