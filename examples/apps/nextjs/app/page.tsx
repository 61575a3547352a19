'use client';
import { useChat } from '@ai-sdk/react';
import { getToolName, isToolUIPart } from 'ai';
import { useState } from 'react';

export default function Page() {
  const { messages, status, error, sendMessage, stop } = useChat();
  const [text, setText] = useState('What is the weather in Rome?');
  const isBusy = status === 'submitted' || status === 'streaming';

  return (
    <main>
      <h1>Questions</h1>
      <div role="log" aria-label="Conversation" aria-busy={isBusy}>
        {messages.map(({ id, role, parts }) => (
          <article key={id} aria-label={role === 'user' ? 'You' : 'Assistant'}>
            {parts.map((part, at) => {
              if (part.type === 'text') return <p key={at}>{part.text}</p>;
              if (!isToolUIPart(part)) return null;
              return <pre key={at}>{`${getToolName(part)} ${JSON.stringify(part.input)}`}</pre>;
            })}
          </article>
        ))}
      </div>
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isBusy || text.trim() === '') return;
          void sendMessage({ text });
          setText('');
        }}
      >
        <label htmlFor="message">Message</label>{' '}
        <input id="message" value={text} onChange={(event) => setText(event.target.value)} />{' '}
        {isBusy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </main>
  );
}
