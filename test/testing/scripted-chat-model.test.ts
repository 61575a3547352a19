import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { take } from 'rxjs';
import { Cancellation } from '../../src/core/internal/cancellation.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import { ChatClient } from '../../src/index.js';
import { Prompt } from '../../src/core/chat/prompt.js';
import { CancelledError, InvalidArgumentError } from '../../src/core/errors/errors.js';
import {
  ScriptedChatModel,
  ScriptExhaustedError,
  type ScriptedAnswer,
} from '../../src/testing/index.js';
import { collect, typesOf } from '../support/runs.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { settle } from '../support/promises.js';

const prompt = new Prompt('Hi.');
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

async function eventsOf(answer: ScriptedAnswer): Promise<readonly ChatEvent[]> {
  return (await collect(new ScriptedChatModel([answer]).stream(prompt))).events;
}

describe('ScriptedChatModel', () => {
  it('answers from a list, in order, and records every prompt', async () => {
    const model = new ScriptedChatModel(['One.', 'Two.']);

    const texts = [(await model.call(prompt)).text, (await model.call(new Prompt('And?'))).text];

    expect(texts).to.deep.equal(['One.', 'Two.']);
    expect(model.prompts.map(({ userMessage }) => userMessage?.content)).to.deep.equal([
      'Hi.',
      'And?',
    ]);
  });

  it('takes the text of a single answer', async () => {
    const model = new ScriptedChatModel('Rome.');

    expect((await model.call(prompt)).text).to.equal('Rome.');
    const error: unknown = await model.call(prompt).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ScriptExhaustedError);
  });

  it('counts in the singular', async () => {
    const error: unknown = await new ScriptedChatModel([]).call(prompt).catch((e: unknown) => e);

    expect((error as Error).message).to.include('was asked 1 time but has 0 answers');
  });

  for (const [script, message] of [
    [
      { text: 'Rome.' },
      'the script must be a text, an array of answers, or a function that returns an answer, not an object',
    ],
    [[null], 'answer 0 must be a text, an error, a ChatResponse or its parts, not null'],
    [
      ['a', [undefined]],
      'answer 1 must be a text, an error, a ChatResponse or its parts, not an array of 1',
    ],
    [
      [() => 'Rome.'],
      'answer 0 must be a text, an error, a ChatResponse or its parts, not a function',
    ],
    [[{ content: 'Rome.' }], 'answer 0: there is no option `content`; there are '],
    [[{ toolCalls: { name: 'a' } }], 'answer 0: toolCalls must be an array, not an object'],
    [[{ toolCalls: [null] }], 'answer 0: toolCalls[0] must be a plain object, not null'],
    [[{ toolCalls: [{}] }], 'answer 0: toolCalls[0].name must be a string, not undefined'],
    [
      [{ toolCalls: [{ name: 'a', args: {} }] }],
      'answer 0: there is no option `toolCalls[0].args`; there are id, name, arguments, deltas, metadata',
    ],
  ] as const)
    it(`[D92] refuses a script that it cannot play: ${JSON.stringify(script)}`, () => {
      expect(() => new ScriptedChatModel(script as never)).to.throw(InvalidArgumentError, message);
    });

  for (const mode of MODES)
    it(`[D92] ${mode}: refuses an answer of a function that it cannot play`, async () => {
      const model = new ScriptedChatModel((() => ({ content: 'Rome.' })) as never);

      const error = await failureOf(runSpec(mode, ChatClient.create(model).prompt('Capital?')));

      expect(error).to.have.property('code', 'invalid_argument');
    });

  for (const mode of MODES) {
    it(`${mode}: waits for the answer of an async function, which a cancellation ends`, async () => {
      let answer: (text: string) => void = () => undefined;
      const model = new ScriptedChatModel(() => new Promise<string>((done) => (answer = done)));
      const client = ChatClient.create(model);

      const first = runSpec(mode, client.prompt('Hi.'));
      await settle();
      answer('Rome.');
      expect((await first).text).to.equal('Rome.');

      const controller = new AbortController();
      const second = failureOf(runSpec(mode, client.prompt('Hi.').signal(controller.signal)));
      await settle();
      controller.abort();
      expect(await second).to.be.instanceOf(CancelledError);
      answer('Paris.');
      await settle();
      expect(model.cancelled).to.equal(1);
    });

    it(`${mode}: fails with the error of an async function`, async () => {
      const model = new ScriptedChatModel(() => Promise.reject(new RangeError('no answer')));

      const error = await failureOf(runSpec(mode, ChatClient.create(model).prompt('Hi.')));

      expect(error).to.be.instanceOf(RangeError);
      expect(model.cancelled).to.equal(0);
    });
  }

  it('answers with a function of the prompt and its index', async () => {
    const model = new ScriptedChatModel((asked, index) => `${index}: ${asked.userMessage?.role}`);

    expect((await model.call(prompt)).text).to.equal('0: user');
    expect((await model.call(prompt)).text).to.equal('1: user');
  });

  for (const answer of [
    'Hello there.',
    {
      text: 'Hello.',
      toolCalls: [{ name: 'echo', arguments: { a: 1 } }],
      usage,
      reasoning: 'Hm.',
      metadata: { a: 1 },
    },
    { refusal: 'No.', finishReason: 'content_filter' },
    { deltas: ['Hel', 'lo.'] },
    ChatResponse.ofText('Hello.').with({ id: '7', metadata: { a: 1 }, usage }),
  ] as const) {
    it(`has the same response for call and stream: ${JSON.stringify(answer).slice(0, 60)}`, async () => {
      const called = await new ScriptedChatModel([answer]).call(prompt);

      const streamed = (await eventsOf(answer)).at(-1);

      expect(streamed).to.deep.include({ type: 'response', response: called });
    });

    it(`streams deltas that add up to the text: ${JSON.stringify(answer).slice(0, 60)}`, async () => {
      const events = await eventsOf(answer);

      const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

      expect(text).to.equal(
        (events.at(-1) as ChatEvent & { type: 'response' }).response.text ?? '',
      );
    });
  }

  it('streams reasoning, the words of the text and tool calls', async () => {
    const events = await eventsOf({
      reasoning: 'Hm.',
      text: 'One moment.',
      toolCalls: [{ name: 'echo', arguments: { a: 1 } }],
    });

    expect(events.slice(0, -1)).to.deep.equal([
      { type: 'reasoning-delta', text: 'Hm.' },
      { type: 'text-delta', text: 'One ' },
      { type: 'text-delta', text: 'moment.' },
      { type: 'tool-call-delta', index: 0, id: 'scripted_1', name: 'echo', arguments: '{"a":1}' },
    ]);
  });

  it('streams the arguments of a tool call in pieces, which add up to them', async () => {
    const deltas = ['{"city":', '"Rome"}'];

    const events = await eventsOf({ toolCalls: [{ id: 'a', name: 'weather', deltas }] });

    expect(events.slice(0, -1)).to.deep.equal([
      { type: 'tool-call-delta', index: 0, id: 'a', name: 'weather', arguments: '{"city":' },
      { type: 'tool-call-delta', index: 0, arguments: '"Rome"}' },
    ]);
    const { response } = events.at(-1) as ChatEvent & { type: 'response' };
    expect(callsOf(response.message)).to.deep.equal([
      { id: 'a', name: 'weather', arguments: '{"city":"Rome"}' },
    ]);
  });

  it('refuses pieces that do not add up to the arguments', async () => {
    const call = { name: 'weather', arguments: { city: 'Rome' }, deltas: ['{"city":'] };

    const { errors } = await collect(new ScriptedChatModel([{ toolCalls: [call] }]).stream(prompt));

    expect(errors[0]).to.be.instanceOf(InvalidArgumentError);
    expect((errors[0] as Error).message).to.include(
      'do not add up to the text "{\\"city\\":\\"Rome\\"}"',
    );
  });

  it('gives calls of different conversations different ids', async () => {
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'a' }] },
      { toolCalls: [{ name: 'a' }, { name: 'b' }] },
    ]);

    const answers = [await model.call(new Prompt('q')), await model.call(new Prompt('r'))];

    const ids = answers.flatMap(({ message }) => message.toolCalls?.map(({ id }) => id));
    expect(ids).to.deep.equal(['scripted_1', 'scripted_2', 'scripted_3']);
  });

  it('generates missing ids of tool calls, and keeps ids of the script with their metadata', async () => {
    const toolCalls = [
      { name: 'a' },
      { name: 'b', id: 'mine', arguments: 'not JSON', metadata: { signature: 'x' } },
    ] as const;

    const { message, finishReason } = await new ScriptedChatModel([{ toolCalls }]).call(prompt);

    expect(message).to.deep.include({ content: null });
    expect(callsOf(message)[1]).to.deep.equal({
      name: 'b',
      id: 'mine',
      arguments: 'not JSON',
      metadata: { signature: 'x' },
    });
    expect(message.toolCalls?.[0]).to.deep.include({ name: 'a', arguments: '{}' });
    expect(message.toolCalls?.[0]?.id).to.match(/^scripted_/);
    expect(finishReason).to.equal('tool_calls');
  });

  it('fails without an answer left, with the last message in the error', async () => {
    const model = new ScriptedChatModel(['Only one.']);
    await model.call(prompt);

    for (const failure of [
      await model.call(prompt).catch((error: unknown) => error),
      (await collect(model.stream(prompt))).errors[0],
    ]) {
      expect(failure).to.be.instanceOf(ScriptExhaustedError);
      expect((failure as Error).message).to.match(
        /^The scripted model was asked \d times but has 1 answer; add one, .+"Hi\."/,
      );
    }
  });

  it('fails with an error of the script: immediately in a call, after the deltas in a stream', async () => {
    const error = new Error('cut');
    const answer = { deltas: ['Hel'], error };

    const called: unknown = await new ScriptedChatModel([answer])
      .call(prompt)
      .catch((thrown: unknown) => thrown);
    const streamed = await collect(new ScriptedChatModel([answer]).stream(prompt));

    expect(called).to.equal(error);
    expect(streamed).to.deep.equal({
      events: [{ type: 'text-delta', text: 'Hel' }],
      errors: [error],
      completed: false,
    });
  });

  it('rejects deltas that do not add up to the text', async () => {
    const model = new ScriptedChatModel([{ text: 'Hello.', deltas: ['Bye.'] }]);

    expect(await model.call(prompt).catch((error: unknown) => error)).to.be.instanceOf(
      InvalidArgumentError,
    );
  });

  it('is cold, and takes the next answer for each subscription', async () => {
    const model = new ScriptedChatModel(['One.', 'Two.']);

    const events = model.stream(prompt);
    expect(model.prompts).to.have.lengthOf(0);
    const answers = [await collect(events), await collect(events)].map((result) =>
      result.events.at(-1),
    );

    expect(answers.map((event) => event?.type === 'response' && event.response.text)).to.deep.equal(
      ['One.', 'Two.'],
    );
  });

  it('waits before each event of an answer with a delay', async () => {
    const model = new ScriptedChatModel([{ deltas: ['a', 'b'], delay: 1 }]);
    const counts: number[] = [];
    const events: ChatEvent[] = [];

    model.stream(prompt).subscribe((event) => events.push(event));
    counts.push(events.length);
    while (events.length < 3) await settle();

    expect(counts).to.deep.equal([0]);
    expect(typesOf({ events })).to.deep.equal(['text-delta', 'text-delta', 'response']);
  });

  describe('when it is cancelled', () => {
    const slow = { text: 'Hello there.', delay: 60_000 };

    it('counts an unsubscribed stream as cancelled', () => {
      const model = new ScriptedChatModel([slow]);

      model.stream(prompt).subscribe().unsubscribe();

      expect(model.cancelled).to.equal(1);
    });

    it('stops and counts a synchronous stream that is unsubscribed between events', async () => {
      const model = new ScriptedChatModel(['Hello there.']);

      const { events } = await collect(model.stream(prompt).pipe(take(1)));

      expect([events.length, model.cancelled]).to.deep.equal([1, 1]);
    });

    it('fails with the reason of the signal as cause, in call and stream', async () => {
      const model = new ScriptedChatModel([slow, slow]);
      const controller = new AbortController();
      const reason = new Error('enough');

      const call = model
        .call(prompt, { signal: controller.signal })
        .catch((error: unknown) => error);
      const stream = collect(model.stream(prompt, { signal: controller.signal }));
      controller.abort(reason);

      for (const error of [await call, (await stream).errors[0]]) {
        expect(error).to.be.instanceOf(CancelledError);
        expect((error as CancelledError).cause).to.equal(reason);
      }
      expect(model.cancelled).to.equal(2);
    });

    it('fails when a run without a signal is cancelled', async () => {
      const model = new ScriptedChatModel([slow]);
      const run = new Cancellation();

      const call = model.call(prompt, run).catch((error: unknown) => error);
      run.cancel();

      expect(await call).to.be.instanceOf(CancelledError);
    });

    it('takes no answer if the signal has aborted before', async () => {
      const model = new ScriptedChatModel(['Hello.']);

      const failure: unknown = await model
        .call(prompt, { signal: AbortSignal.abort() })
        .catch((error: unknown) => error);

      expect(failure).to.be.instanceOf(CancelledError);
      expect([model.prompts.length, model.cancelled]).to.deep.equal([0, 0]);
    });

    it('does not count complete answers', async () => {
      const model = new ScriptedChatModel([
        { text: 'Hello.', delay: 1 },
        'Hello.',
        new Error('no'),
      ]);
      const controller = new AbortController();
      const run = { signal: controller.signal };

      await model.call(prompt, run);
      await collect(model.stream(prompt, run));
      await collect(model.stream(prompt, run));
      controller.abort();

      expect(model.cancelled).to.equal(0);
    });
  });
});
