import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  type ChatModel,
  type Decision,
} from '../../src/index.js';
import { CALL, CHAT_WIRES, type ChatWire } from '../support/chat-wires.js';

const EDITED: Decision = { type: 'edit', arguments: { zone: 'Europe/Rome' }, by: 'anna' };
const zones: unknown[] = [];
const now = defineTool({
  name: CALL.name,
  input: { type: 'object', properties: { zone: { type: 'string' } } },
  execute: ({ zone }: { zone?: string }) => `noon in ${zones.push(zone)} places`,
});

/** A `fetch` that answers with one body after the other, and keeps the requests. */
function answersInTurn(...bodies: readonly (readonly [body: string, type: string])[]) {
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = (_url, init) => {
    const [body, type] = bodies[requests.length] ?? ['', 'text/plain'];
    requests.push(typeof init?.body === 'string' ? init.body : '');
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
  };
  return { requests, fetch };
}

/** The messages of the request after an edited call. */
async function requestAfterEdit(
  wire: ChatWire,
  mode: 'call' | 'stream',
  ...bodies: readonly (readonly [string, string])[]
): Promise<string> {
  const { requests, fetch } = answersInTurn(...bodies);
  const model: ChatModel = wire.make('http://127.0.0.1:9', { fetch } as never);
  const client = ChatClient.builder(model)
    .defaultTools(now)
    .defaultAdvisors(new ApprovalAdvisor({ decide: () => EDITED }))
    .build();
  const spec = client.prompt('What time is it?');
  await (mode === 'call' ? spec.call().content() : spec.stream().finalResponse());
  expect(requests).to.have.length(2);
  const sent = JSON.parse(requests[1] as string) as Record<string, unknown>;
  return JSON.stringify(sent['messages'] ?? sent['input'] ?? sent['contents']);
}

const wireOf = (api: string): ChatWire => CHAT_WIRES.find((wire) => wire.api === api) as ChatWire;
const JSON_TYPE = 'application/json';
const signed = { name: CALL.name, args: CALL.arguments };

/** Answers with data of the provider around the call, and what the next request must have of it. */
const RICH: readonly (readonly [api: string, document: object, kept: readonly string[]])[] = [
  [
    'responses',
    {
      id: 'r',
      status: 'completed',
      output: [
        { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' },
        {
          id: 'fc_1',
          type: 'function_call',
          call_id: 'call_1',
          name: CALL.name,
          arguments: JSON.stringify(CALL.arguments),
          status: 'completed',
        },
      ],
    },
    ['"encrypted_content":"sealed"', '"call_id":"call_1"'],
  ],
  [
    'generateContent',
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'Hm.', thought: true },
              { functionCall: signed, thoughtSignature: 'c2lnbmVk' },
            ],
          },
          finishReason: 'STOP',
        },
      ],
    },
    ['"thoughtSignature":"c2lnbmVk"'],
  ],
  [
    'messages',
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sealed' },
        { type: 'text', text: 'One moment.' },
        { type: 'tool_use', id: 'toolu_1', name: CALL.name, input: CALL.arguments },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    ['"signature":"sealed"', '"One moment."', '"toolu_1"'],
  ],
];

describe('the request after a call with edited arguments', () => {
  beforeEach(() => (zones.length = 0));

  for (const wire of CHAT_WIRES)
    it(`has the arguments that ran: ${wire.name ?? wire.api}`, async () => {
      const body = (events: readonly string[]) => [events.join(''), wire.streamType] as const;

      const sent = await requestAfterEdit(
        wire,
        'stream',
        body(wire.callEvents),
        body(wire.textEvents),
      );

      expect(zones).to.deep.equal(['Europe/Rome']);
      expect(sent).to.include('Europe/Rome').and.not.include('UTC');
    });

  for (const [api, document, kept] of RICH)
    it(`has the data of the provider around it: ${api}`, async () => {
      const wire = wireOf(api);

      const sent = await requestAfterEdit(
        wire,
        'call',
        [JSON.stringify(document), JSON_TYPE],
        [JSON.stringify(wire.textDocument), JSON_TYPE],
      );

      expect(sent).to.include('Europe/Rome').and.not.include('UTC');
      for (const text of kept) expect(sent).to.include(text);
    });
});
