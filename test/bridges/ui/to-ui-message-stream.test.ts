import { expect } from 'chai';
import { Observable } from 'rxjs';
import { toUIMessageStream, type UIMessageChunk } from '../../../src/bridges/ui/index.js';
import { ChatClient, ModelCallError, type ChatEvent } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { ai, foldUIMessage, readUIMessage } from '../../support/ai-sdk.js';

const down = new ModelCallError('canary', { status: 503 });
const streamOf = (model: ScriptedChatModel) => ChatClient.create(model).prompt('Q').stream();

async function chunksOf(stream: ReadableStream<UIMessageChunk>): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe('toUIMessageStream', () => {
  it('is merged by createUIMessageStream beside the chunks of the application', async () => {
    const chunks = toUIMessageStream(streamOf(new ScriptedChatModel('It is warm.')));

    const stream = ai.createUIMessageStream({
      execute: ({ writer }) => {
        writer.write({ type: 'start' });
        writer.write({ type: 'data-note', data: 'of the application' });
        writer.merge(chunks);
      },
    });
    const response = ai.createUIMessageStreamResponse({ stream });
    const { message } = await readUIMessage(response);

    expect(message.parts.map(({ type }) => type)).to.deep.equal([
      'data-note',
      'step-start',
      'text',
    ]);
  });

  it('has the same chunks as the response, with its options', async () => {
    const { message } = await foldUIMessage(
      toUIMessageStream(streamOf(new ScriptedChatModel('Hi.')), { messageId: 'm-1' }),
    );

    expect(message).to.deep.include({ id: 'm-1', metadata: { model: 'scripted' } });
  });

  it('ends with a safe error, which the application gets whole', async () => {
    const reported: unknown[] = [];
    const model = new ScriptedChatModel([{ text: 'Half', error: down }]);

    const chunks = await chunksOf(
      toUIMessageStream(streamOf(model), {
        onError: (error, { status }) => reported.push([error, status]),
      }),
    );

    expect(chunks.at(-1)?.type).to.equal('error');
    expect(JSON.stringify(chunks)).not.to.include('canary');
    expect(reported).to.deep.equal([[down, 503]]);
  });

  it('ends with an abort when the run is cancelled', async () => {
    const stream = ChatClient.create(new ScriptedChatModel('Hi.'))
      .prompt('Q')
      .signal(AbortSignal.abort())
      .stream();

    const chunks = await chunksOf(toUIMessageStream(stream));

    expect(chunks).to.deep.equal([{ type: 'start' }, { type: 'abort' }]);
  });

  it('begins with the first read, and reads nothing ahead', async () => {
    let asked = 0;
    async function* events(): AsyncGenerator<ChatEvent> {
      for (;;) {
        asked++;
        yield await Promise.resolve({ type: 'text-delta', text: 'x' } as const);
      }
    }

    const reader = toUIMessageStream(events()).getReader();
    const before = asked;
    const first = await reader.read();

    expect([before, asked]).to.deep.equal([0, 1]);
    expect(first.value).to.deep.equal({ type: 'start' });
    await reader.cancel();
  });

  it('cancels the run when its reader leaves', async () => {
    const model = new ScriptedChatModel([{ text: 'Long', deltas: ['Lo', 'ng'], delay: 5 }]);
    const reader = toUIMessageStream(streamOf(model)).getReader();
    await reader.read();

    await reader.cancel();

    expect(model.cancelled).to.equal(1);
  });

  it('is left although the next event never comes', async () => {
    let isOver = false;
    const events = new Observable<ChatEvent>((subscriber) => {
      subscriber.next({ type: 'text-delta', text: 'a' });
      return () => (isOver = true);
    });
    const reader = toUIMessageStream(events).getReader();
    await reader.read();

    await reader.cancel();

    expect(isOver).to.equal(true);
  });

  it('refuses a stream that has no events', () => {
    expect(() => toUIMessageStream('text' as never)).to.throw(/^toUIMessageStream: stream must be/);
  });
});
