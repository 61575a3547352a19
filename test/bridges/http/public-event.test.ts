import { createParser } from 'eventsource-parser';
import { expect } from 'chai';
import fc from 'fast-check';
import { toResponse } from '../../../src/bridges/http/index.js';
import {
  agentTool,
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  toolResult,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

const SECRET = 'canary-secret-4711';
const TOKEN = new ContextKey<string>('app.token', '');

async function* eventsOf(...events: readonly ChatEvent[]): AsyncGenerator<ChatEvent> {
  yield* events;
}

/** The data of a body, as a parser of server-sent events reads it. */
function dataOf(body: string): readonly unknown[] {
  const data: unknown[] = [];
  const parser = createParser({ onEvent: (event) => data.push(JSON.parse(event.data)) });
  parser.feed(body);
  return data;
}

const lookUp = defineTool({
  name: 'lookUp',
  execute: () => toolResult({ value: { row: SECRET }, content: 'one row' }),
});
const fail = defineTool({
  name: 'fail',
  execute: () => {
    throw new Error(SECRET);
  },
});
const leaky = defineAdvisor({
  name: 'leaky',
  order: 0,
  around: (request, next) => next(request.withContext(TOKEN, SECRET)),
});
const calls = [{ name: 'lookUp' }, { name: 'fail' }];
const cited = { url: 'https://example.org', raw: { internal: SECRET } };

/** Turns whose events have a secret wherever a browser must not see it. */
function streamWithSecrets() {
  const answers = [
    { toolCalls: calls, metadata: { raw: SECRET } },
    { text: 'Done.', citations: [cited], metadata: { raw: SECRET } },
  ];
  const inner = ChatClient.builder(new ScriptedChatModel(answers))
    .defaultSystem(`Never show ${SECRET}.`)
    .defaultTools(lookUp, fail)
    .defaultAdvisors(leaky)
    .build();
  const agent = agentTool(inner, { name: 'agent', description: 'An agent.' });
  const outer = [{ toolCalls: [{ name: 'agent', arguments: { message: 'Q' } }, ...calls] }, ...answers.slice(1)]; // prettier-ignore
  return ChatClient.builder(new ScriptedChatModel(outer))
    .defaultSystem(`Never show ${SECRET}.`)
    .defaultTools(agent, lookUp, fail)
    .defaultAdvisors(leaky)
    .build()
    .prompt('Q')
    .toolContext({ token: SECRET })
    .stream();
}

describe('the events that a browser gets', () => {
  for (const format of ['sse', 'ndjson', 'text'] as const)
    it(`have no values of advisors and tools, no report, no fields of a provider: ${format}`, async () => {
      const body = await (await toResponse(streamWithSecrets(), { format })).text();

      expect(body).to.include('Done.');
      expect(body).not.to.include(SECRET);
      if (format !== 'text') expect(body).to.match(/"tool-progress".*"text-delta".*Done/);
    });

  it('keep every text in its frame', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n\ndata: {"type":"response"}\n\n', '\r\nid: 1\r\n\r\n', '\u2028\u2029', '\0', '\ud800', ':\n'), // prettier-ignore
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 8 }), hostile, async (texts, id) => {
        const call = { id, name: id, arguments: id };
        const events: readonly ChatEvent[] = [
          ...texts.map((text) => ({ type: 'text-delta' as const, text })),
          { type: 'tool-call', toolName: id, call },
        ];

        const sse = await (await toResponse(eventsOf(...events), { format: 'sse' })).text();
        const lines = await (await toResponse(eventsOf(...events), { format: 'ndjson' })).text();

        expect(dataOf(sse)).to.deep.equal(events);
        const ofLines = lines.trim().split('\n').map((line) => JSON.parse(line) as unknown); // prettier-ignore
        expect(ofLines).to.deep.equal(events);
      }),
      { numRuns: 200 },
    );
  });

  it('have the mark of a replay, and data that JSON cannot hold as text', async () => {
    const events = eventsOf({ type: 'text-delta', text: 'a', isReplayed: true }, {
      type: 'custom',
      name: 'big',
      data: { count: 1n },
    } as never);

    const body = await (await toResponse(events, { format: 'sse' })).text();

    expect(dataOf(body)).to.deep.equal([
      { type: 'text-delta', text: 'a', isReplayed: true },
      { type: 'custom', name: 'big', data: { count: '1' } },
    ]);
  });
});
