import type { JSX } from 'preact';
import type { PendingRequest } from '../../../../core/chat/paused-turn.js';
import { LongText } from '../parts/exact-text.js';
import { dateAndTime } from '../parts/format.js';
import { JsonView } from '../parts/json-view.js';
import { ExactJson } from './exact-json.js';

const EFFECTS = {
  read: 'reads',
  idempotent: 'changes something, the same if it runs twice',
  write: 'changes something',
};

/** Facts that a reader must know to decide: the text, the arguments, risk, effect, and what is hidden in them. */
export function RequestFacts({ request }: { readonly request: PendingRequest }): JSX.Element {
  const { agents, expiresAt, problem, hiddenText } = request;
  return (
    <>
      <p class="prompt">
        <LongText text={request.prompt} />
      </p>
      {problem !== undefined && (
        <p class="note bad" role="alert">
          The last decision was not valid: <bdi>{problem}</bdi>
        </p>
      )}
      {hiddenText !== undefined && (
        <p class="note">
          <strong>Hidden text:</strong> it has the character {hiddenText}, which nothing shows and
          which may hide or reverse a part. Such characters are marked below.
        </p>
      )}
      {request.type === 'approval' && <ApprovalFacts request={request} />}
      {request.type === 'client-tool' && <ExactJson value={request.arguments} name="arguments" />}
      <p class="facts">
        <span>
          tool <bdi class="mono">{request.toolName}</bdi>
        </span>
        {agents && agents.length > 0 && (
          <span>
            of <bdi>{agents.join(' › ')}</bdi>
          </span>
        )}
        {expiresAt !== undefined && <span>open until {dateAndTime(expiresAt)}</span>}
      </p>
    </>
  );
}

function ApprovalFacts({
  request: { arguments: given, argumentsText, risk, details, effect },
}: {
  readonly request: Extract<PendingRequest, { readonly type: 'approval' }>;
}): JSX.Element {
  return (
    <>
      <p class="facts">
        {risk !== undefined && (
          <span class={risk === 'high' ? 'label bad' : 'label changed'}>risk: {risk}</span>
        )}
        <span>the tool {EFFECTS[effect]}</span>
      </p>
      <ExactJson value={given} name="arguments" />
      {/\d{16}/.test(argumentsText) && (
        <p class="small">
          As written: <LongText text={argumentsText} />
        </p>
      )}
      {details !== undefined && <JsonView value={details} name="details" />}
    </>
  );
}
