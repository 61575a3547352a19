import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { z } from 'zod';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { Prompt } from '../../src/core/chat/prompt.js';
import { CancelledError, InvalidArgumentError } from '../../src/core/errors/errors.js';
import { ChatClient, defineTool } from '../../src/index.js';
import { OfflineChatModel } from '../../src/testing/index.js';
import { failureOf } from '../support/modes.js';
import { TEXT, tool } from '../support/offline-scene.js';
import { valuesOf } from '../support/runs.js';

const weather = { definition: tool('get_weather', 'Current weather in a city.', { city: TEXT }) };
const QUESTION = 'What is the weather in Oslo?';
const weatherPrompt = new Prompt(QUESTION, { tools: [weather] });
const greeting = new Prompt('Hello there');

describe('OfflineChatModel', () => {
  it('answers with tool calls that have ids, a finish reason and the name of the model', async () => {
    const response = await new OfflineChatModel().call(weatherPrompt);

    expect(response.message).to.deep.equal({
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }],
    });
    expect(response.finishReason).to.equal('tool_calls');
    expect(response.model).to.equal('offline');
  });

  it('counts four characters of messages and tools as a token', async () => {
    const input = JSON.stringify([weatherPrompt.messages, [weather.definition]]);

    const toolCalls = [{ name: 'get_weather', args: { city: 'Oslo' } }];
    const output = JSON.stringify({ text: null, toolCalls });

    const { usage } = await new OfflineChatModel().call(weatherPrompt);

    const [inputTokens, outputTokens] = [Math.ceil(input.length / 4), Math.ceil(output.length / 4)];
    expect(usage).to.deep.equal({
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
    });
  });

  it('has calls that are unique in a conversation without the history of its calls', async () => {
    const ids = new Set<string>();
    const own = defineTool({
      name: 'get_weather',
      execute: (_input, { call }) => void ids.add(call.id),
    });
    const client = ChatClient.builder(new OfflineChatModel()).defaultTools(own).build();

    await client.prompt(QUESTION).conversation('c').call().content();
    await client.prompt(QUESTION).conversation('c').call().content();

    expect(ids).to.have.lengthOf(2);
  });

  it('gives the same answer to the same prompt', async () => {
    const model = new OfflineChatModel();

    expect(await model.call(weatherPrompt)).to.deep.equal(await model.call(weatherPrompt));
  });

  for (const [what, prompt] of Object.entries({
    'a text': greeting,
    'tool calls': weatherPrompt,
  })) {
    it(`streams ${what} in deltas that add up to the response of a call`, async () => {
      const model = new OfflineChatModel();

      const events = await valuesOf(model.stream(prompt));

      const last = events.at(-1);
      const response = await model.call(prompt);
      expect(last).to.have.property('type', 'response');
      expect(last).to.have.deep.property('response', response);
      expect(textOf(events)).to.equal(response.text ?? '');
      expect(argumentsOf(events)).to.deep.equal(
        callsOf(response.message).map((call) => call.arguments),
      );
      expect(events.length).to.be.greaterThan(1);
    });
  }

  it('streams arguments word by word', async () => {
    const shop = { definition: tool('search_shop', 'Searches the shop.', { query: TEXT }) };
    const asked = new Prompt('Search the shop for lamps', { tools: [shop] });

    const events = await valuesOf(new OfflineChatModel().stream(asked));

    const pieces = events.flatMap((event) =>
      event.type === 'tool-call-delta' ? [event.arguments] : [],
    );
    expect(pieces).to.deep.equal(['{"query":"Search ', 'the ', 'shop ', 'for ', 'lamps"}']);
  });

  it('is cold, and answers each subscription', async () => {
    const events = new OfflineChatModel().stream(greeting);

    expect(await valuesOf(events)).to.deep.equal(await valuesOf(events));
  });

  it('waits before each event of a stream if it has a delay', async () => {
    const kinds: string[] = [];
    const done = new Promise<void>((resolve) => {
      new OfflineChatModel({ delay: 1 })
        .stream(greeting)
        .subscribe({ next: (event) => kinds.push(event.type), complete: resolve });
    });

    expect(kinds).to.deep.equal([]);
    await done;
    expect(kinds.at(-1)).to.equal('response');
  });

  it('emits nothing after it is unsubscribed', async () => {
    const received: ChatEvent[] = [];
    await new Promise<void>((resolve) => {
      const subscription = new OfflineChatModel({ delay: 1 })
        .stream(greeting)
        .subscribe((event) => {
          received.push(event);
          subscription.unsubscribe();
          setTimeout(resolve, 20);
        });
    });

    expect(received).to.have.length(1);
  });

  for (const delay of [0, 5]) {
    it(`ends with a CancelledError when the signal aborts (delay ${delay})`, async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      if (delay === 0) controller.abort(reason);
      const model = new OfflineChatModel({ delay });

      const failures = [
        failureOf(model.call(greeting, { signal: controller.signal })),
        failureOf(valuesOf(model.stream(greeting, { signal: controller.signal }))),
      ];
      controller.abort(reason);

      for (const failure of await Promise.all(failures)) {
        expect(failure).to.be.instanceOf(CancelledError).and.to.have.property('cause', reason);
      }
    });
  }

  it('rejects an invalid delay', () => {
    expect(() => new OfflineChatModel({ delay: -1 })).to.throw(
      InvalidArgumentError,
      'OfflineChatModel: delay must be a number of milliseconds >= 0 and < 2 ** 31, not -1',
    );
  });

  it('runs a tool loop of a ChatClient to its end, with the same response for call and stream', async () => {
    const flight = defineTool({
      name: 'find_flight',
      description: 'Finds a flight between two cities.',
      input: z.object({ from: z.string(), to: z.string() }),
      execute: () => ({ price: 180 }),
    });
    const discount = defineTool({
      name: 'discount',
      description: 'Works out a discount.',
      input: z.object({ flight_price: z.number() }),
      execute: (args) => `you pay ${args.flight_price / 2}`,
    });
    const client = ChatClient.builder(new OfflineChatModel())
      .defaultTools(flight, discount)
      .build();
    const spec = client.prompt('Find a flight from Oslo to Rome, then work out the discount');

    const called = await spec.call().chatResponse();
    const events = await valuesOf(spec.stream().events());

    const last = events.at(-1);
    expect(called.text).to.contain('discount: you pay 90');
    expect(last?.type === 'response' && last.response).to.deep.equal(called);
    expect(events.filter((event) => event.type === 'iteration')).to.have.length(2);
  });

  it('fills an entity from the question', async () => {
    const client = ChatClient.create(new OfflineChatModel());

    const entity = await client
      .prompt('The city of Milan has a population of 1,371,000.')
      .call()
      .entity(z.object({ city: z.string(), population: z.number() }));

    expect(entity).to.deep.equal({ city: 'Milan', population: 1_371_000 });
  });
});

function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

function argumentsOf(events: readonly ChatEvent[]): readonly string[] {
  const texts: string[] = [];
  for (const event of events)
    if (event.type === 'tool-call-delta')
      texts[event.index] = (texts[event.index] ?? '') + event.arguments;
  return texts;
}
