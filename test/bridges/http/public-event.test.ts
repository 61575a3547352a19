import { createParser } from 'eventsource-parser';
import { expect } from 'chai';
import fc from 'fast-check';
import { toResponse } from '../../../src/bridges/http/index.js';
import { agUI } from '../../../src/bridges/ag-ui/index.js';
import { uiMessageStream } from '../../../src/bridges/ui/index.js';
import { agentTool, ChatClient, InvalidArgumentError, type ChatEvent } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { emitter, SECRET, streamWithSecrets } from '../../support/secret-turn.js';

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

describe('the events that a browser gets', () => {
  const formats = {
    sse: 'sse',
    ndjson: 'ndjson',
    text: 'text',
    ui: uiMessageStream(),
    'ag-ui': agUI({ threadId: 't', runId: 'r' }),
  } as const;
  for (const [name, format] of Object.entries(formats))
    it(`have no values of advisors and tools, no report, no fields of a provider: ${name}`, async () => {
      const body = await (await toResponse(streamWithSecrets(), { format })).text();

      expect(body).to.include('Done.');
      expect(body).not.to.include(SECRET);
      if (format === 'sse' || format === 'ndjson')
        expect(body).to.match(/"tool-progress".*"text-delta".*Done/);
    });

  it('have custom events that are named, also of an agent, and no others', async () => {
    const advisors = [emitter('weather', { warm: true }), emitter('findings', SECRET)];
    const inner = ChatClient.builder(new ScriptedChatModel(() => 'Warm.')).defaultAdvisors(...advisors).build(); // prettier-ignore
    const agent = agentTool(inner, { name: 'agent', description: 'An agent.' });
    const asks = { toolCalls: [{ name: 'agent', arguments: { message: 'Q' } }] };
    const run = () =>
      ChatClient.builder(new ScriptedChatModel([asks, 'Done.']))
        .defaultTools(agent)
        .defaultAdvisors(...advisors)
        .build()
        .prompt('Q')
        .stream();
    const customEvents = ['weather' as never];

    for (const format of ['sse', 'ndjson'] as const) {
      const silent = await (await toResponse(run(), { format })).text();
      const named = await (await toResponse(run(), { format, customEvents })).text();

      expect(silent).not.to.match(/custom|weather|findings/);
      expect(named.match(/"type":"custom","name":"weather","data":{"warm":true}/g)).to.have.length(
        2,
      );
      expect(named).not.to.include('findings');
    }
  });

  it('are named for the formats that have no option of their own', async () => {
    const options = { format: uiMessageStream(), customEvents: ['weather' as never] };
    const wrong = await toResponse(eventsOf(), options).catch((error: unknown) => error);

    expect(wrong).to.be.instanceOf(InvalidArgumentError);
    expect(String(wrong)).to.include("customEvents is for the formats 'sse' and 'ndjson'");
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

    const customEvents = ['big' as never];
    const body = await (await toResponse(events, { format: 'sse', customEvents })).text();

    expect(dataOf(body)).to.deep.equal([
      { type: 'text-delta', text: 'a', isReplayed: true },
      { type: 'custom', name: 'big', data: { count: '1' } },
    ]);
  });
});
