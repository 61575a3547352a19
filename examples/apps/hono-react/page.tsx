import { useChat } from '@ai-sdk/react';
import {
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses as isDecided,
  lastAssistantMessageIsCompleteWithToolCalls as hasOutputs,
  type UIMessage,
} from 'ai';
import { useEffect, useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';

/** Questions that the offline model has tools for. */
const EXAMPLES = {
  'A tool': 'What is the weather in Rome?',
  'An approval': 'Send Ben the note "We meet at ten, in the large room on the second floor."',
  'Your browser': 'What is my time zone?',
};

type Part = UIMessage['parts'][number];
type Answer = (id: string, approved: boolean) => void;

/** The messages outlive a reload. An answer that is being written is not among them: the server has all of it. */
const saved = JSON.parse(sessionStorage.getItem('chat') ?? '{}') as Partial<Saved>;

interface Saved {
  readonly messages: UIMessage[];
  readonly isBusy: boolean;
}

function save(chat: Saved): void {
  sessionStorage.setItem('chat', JSON.stringify(chat));
}

function Chat() {
  const { messages, status, error, sendMessage, stop, addToolApprovalResponse, addToolOutput } =
    useChat({
      messages: saved.messages ?? [],
      resume: saved.isBusy ?? false,
      onFinish: (end) => {
        // a reload ends the connection, too
        if (!end.isDisconnect && !end.isError) save({ messages: end.messages, isBusy: false });
      },
      sendAutomaticallyWhen: (chat) => isDecided(chat) || hasOutputs(chat),
      onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
        if (toolName !== 'get_time_zone') return;
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        // not awaited: the answer of which this is a part would wait for itself
        void addToolOutput({ tool: toolName, toolCallId, output: { timeZone } });
      },
    });
  const isBusy = status === 'submitted' || status === 'streaming';
  useEffect(() => {
    const asked = messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);
    if (status === 'submitted') save({ messages: asked, isBusy: true });
  }, [messages, status]);
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
        stop={() => {
          void fetch('/api/stop', { method: 'POST' }); // the run ends; a page that leaves is no reason
          void stop();
        }}
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
          <button className="plain" onClick={() => answer(part.approval.id, false)}>
            Deny
          </button>
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
