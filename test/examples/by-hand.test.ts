import { readFileSync } from 'node:fs';
import {
  readUIMessageStream,
  uiMessageChunkSchema,
  type UIMessage,
  parseJsonEventStream,
} from 'ai';
import { expect } from 'chai';
import { answer as chatByHand } from '../../examples/by-hand/use-chat.js';
import { answer as sseByHand } from '../../examples/by-hand/sse.js';
import { toResponse } from '../../src/bridges/http/index.js';
import { toUIMessageStreamResponse } from '../../src/bridges/ui/index.js';
import { ChatClient, defineTool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const weather = defineTool({
  name: 'weather',
  input: { type: 'object', properties: { city: { type: 'string' } } },
  execute: () => 'Sunny.',
});

function client(): ChatClient {
  const script = [
    { text: 'I look.', toolCalls: [{ id: 'c1', name: 'weather', arguments: { city: 'Rome' } }] },
    { reasoning: 'Good.', text: 'It is sunny.' },
  ];
  return ChatClient.builder(new ScriptedChatModel(script)).defaultTools(weather).build();
}

const request = (body: string): Request =>
  new Request('http://localhost/chat', { method: 'POST', body });

/** The parts of a message of `useChat`, without the states that only a running page has. */
async function partsOf(response: Response): Promise<readonly object[]> {
  if (!response.body) throw new Error('no body');
  const stream = parseJsonEventStream({
    stream: response.body,
    schema: uiMessageChunkSchema,
  }).pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) throw result.error;
        controller.enqueue(result.value);
      },
    }),
  );
  let message: UIMessage | undefined;
  for await (const each of readUIMessageStream({ stream })) message = each;
  return message?.parts ?? [];
}

const framesOf = async (response: Response): Promise<readonly string[]> =>
  (await response.text())
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => (JSON.parse(frame.slice(6)) as { readonly type: string }).type);

/** Lines without imports, comments and blank ones. */
function lines(code: string): number {
  const own = code.replaceAll(/^import [\s\S]*?;$/gm, '');
  return own.split('\n').filter((line) => !/^\s*(\/\/.*|\/\*\*.*)?$/.test(line)).length;
}

describe('docs/less-code.md', () => {
  it('compares turns that give useChat the same message', async () => {
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Warm?' }] }];

    const byHand = await partsOf(await chatByHand(client(), request(JSON.stringify({ messages }))));
    const ours = await partsOf(await toUIMessageStreamResponse(client().prompt('Warm?').stream()));

    expect(byHand).to.have.lengthOf(6);
    expect(ours).to.deep.equal(byHand);
  });

  it('compares turns that give a page the same events', async () => {
    const byHand = await framesOf(await sseByHand(client(), request('Warm?')));
    const ours = await framesOf(
      await toResponse(client().prompt('Warm?').stream(), { format: 'sse' }),
    );

    expect(byHand.filter((type) => type !== 'step')).to.deep.equal(ours);
  });

  it('has the counted lines', () => {
    const page = read('docs/less-code.md');
    const counts = [...page.matchAll(/^\| .*? \| +(\d+) \| +(\d+) \|/gm)].map(([, a, b]) => [
      Number(a),
      Number(b),
    ]);
    const [first = '', second = ''] = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
      ([, code]) => code,
    );

    expect(counts).to.deep.equal([
      // the client is of both
      [lines(read('examples/by-hand/use-chat.ts')), lines(first) - 1],
      [lines(read('examples/by-hand/sse.ts')), lines(second)],
    ]);
  });
});
