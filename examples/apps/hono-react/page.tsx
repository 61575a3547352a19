import { useChat } from '@ai-sdk/react';
import {
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';

/** Questions that the offline model has tools for. */
const EXAMPLES = {
  'A tool': 'What is the weather in Rome?',
  'An approval': 'Send Ben the note "We meet at ten, in the large room on the second floor."',
};

type Part = UIMessage['parts'][number];
type Answer = (id: string, approved: boolean) => void;

function Chat() {
  const { messages, status, error, sendMessage, stop, addToolApprovalResponse } = useChat({
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  const isAsked = messages.at(-1)?.parts.some(isOpenRequest) ?? false;
  const answer: Answer = (id, approved) => void addToolApprovalResponse({ id, approved });

  return (
    <main>
      <h1>Office chat</h1>
      {/* `aria-busy` keeps a screen reader from reading every piece of a stream */}
      <div role="log" aria-label="Conversation" aria-busy={isBusy}>
        <div>
          {messages.map(({ id, role, parts }) => (
            <article key={id} className={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
              {parts.map((part, at) => (
                <PartView key={at} part={part} answer={answer} />
              ))}
            </article>
          ))}
        </div>
      </div>
      <p role="status">
        {isBusy ? 'The assistant is writing.' : isAsked ? 'Your decision is needed.' : ''}
      </p>
      {error && <p role="alert">{error.message}</p>}
      <Composer
        isBusy={isBusy}
        isLocked={isAsked}
        send={(text) => void sendMessage({ text })}
        stop={() => void stop()}
      />
    </main>
  );
}

function isOpenRequest(part: Part): boolean {
  return isToolUIPart(part) && part.state === 'approval-requested';
}

function PartView({ part, answer }: { readonly part: Part; readonly answer: Answer }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const { state, input, output, errorText } = part;
  return (
    <section className="tool" aria-label={`Tool ${getToolName(part)}`} data-state={state}>
      <h2>
        {getToolName(part)} <small>{LABELS[state]}</small>
      </h2>
      <pre>{JSON.stringify(input, null, 2)}</pre>
      {output !== undefined && <pre>{JSON.stringify(output, null, 2)}</pre>}
      {errorText !== undefined && <p>{errorText}</p>}
      {state === 'approval-requested' && (
        <p className="buttons">
          <button onClick={() => answer(part.approval.id, true)}>Allow</button>
          <button onClick={() => answer(part.approval.id, false)}>Deny</button>
        </p>
      )}
    </section>
  );
}

const LABELS = {
  'input-streaming': 'is being written',
  'input-available': 'runs',
  'approval-requested': 'waits for you',
  'approval-responded': 'decided',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

interface ComposerProps {
  readonly isBusy: boolean;
  readonly isLocked: boolean;
  readonly send: (text: string) => void;
  readonly stop: () => void;
}

function Composer({ isBusy, isLocked, send, stop }: ComposerProps) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || isBusy || isLocked) return;
    send(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <p className="examples">
        Try:
        {Object.entries(EXAMPLES).map(([name, example]) => (
          <button key={name} type="button" onClick={() => setText(example)}>
            {name}
          </button>
        ))}
      </p>
      <label htmlFor="message">Message</label>
      <p className="row">
        <input
          id="message"
          value={text}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button disabled={isLocked}>Send</button>
        )}
      </p>
    </form>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<Chat />);
