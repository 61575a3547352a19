import { expect } from 'chai';
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { z } from 'zod';
import {
  CancelledError,
  ChatClient,
  defineTool,
  FallbackAdvisor,
  GuardAdvisor,
  ModelCallError,
  piiRule,
  RetryAdvisor,
  secretRule,
  StructuredOutputAdvisor,
  StructuredOutputError,
  wordRule,
  type ChatEvent,
  type CheckRule,
  type GuardAdvisorOptions,
  type TextRule,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { literal } from '../../support/literal-rule.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { sweep } from '../../support/sweep.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, sendEvents, sendJson } from '../../support/wire-server.js';

const CARD = '4111 1111 1111 1111';
const BOMB = literal('bomb');
const redactsAll: GuardAdvisorOptions = {
  output: [{ rules: [piiRule(), secretRule(), wordRule({ words: ['bomb'] })], action: 'redact' }],
};

/** The events of a stream, and the text on the screen after each of them. */
async function streamed(script: Script, ...advisors: readonly GuardAdvisorOptions[]) {
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt('Go.')
    .advisors(...advisors.map((each) => new GuardAdvisor(each)));
  const events = await lastValueFrom(spec.stream().events().pipe(toArray()));
  return { events, ...screensOf(events) };
}

function screensOf(events: readonly ChatEvent[]) {
  const screens: string[] = [''];
  for (const event of events) {
    if (event.type === 'retract') screens.push('');
    if (event.type === 'text-delta') screens.push(`${screens.at(-1)}${event.text}`);
  }
  const last = events.at(-1);
  return { screens, text: last?.type === 'response' ? last.response.text : undefined };
}

/** Events as JSON, without the report of the run, which has its limits too. */
function contentOf(events: readonly ChatEvent[]): string {
  return JSON.stringify(events, (name, value: unknown) => (name === 'run' ? undefined : value));
}

describe('GuardAdvisor in streams', () => {
  const parts = ['The card ', `${CARD}; `, 'then bob@mail.example; ', 'and b.o.m.b. ', ' b ', '- '];
  const anyPieces = fc
    .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 })
    .chain((all) => {
      const text = all.join('');
      return fc
        .array(fc.nat(text.length), { maxLength: 12 })
        .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), text.length])
        .map((cuts) => cuts.slice(1).map((end, at) => text.slice(cuts[at], end)));
    });

  it('shows the redacted answer, and never a piece of what is removed, for any pieces (mastra#23783, litellm#41611)', async () => {
    const cases = fc.asyncProperty(anyPieces, async (deltas) => {
      const text = deltas.join('');
      const { events, screens, text: answer } = await streamed([{ text, deltas }], redactsAll);

      expect(screens.at(-1)).to.equal(answer);
      expect(answer).not.to.match(/4111|bob@|b\.o\.m/);
      for (const screen of screens) expect(answer?.startsWith(screen), screen).to.equal(true);
      expect(events.some(({ type }) => type === 'retract')).to.equal(false);
      const called = ChatClient.create(new ScriptedChatModel([text]))
        .prompt('Go.')
        .advisors(new GuardAdvisor(redactsAll));
      expect(await called.call().content()).to.equal(answer);
    });
    await fc.assert(cases, { numRuns: sweep(5_000) });
  });

  it('shows harmless text at once', async () => {
    const deltas = ['Hello ', 'you. ', 'Fine ', 'weather.'];
    const { screens } = await streamed([{ text: deltas.join(''), deltas }], redactsAll);

    expect(screens.slice(0, 4)).to.deep.equal(['', 'Hello ', 'Hello you. ', 'Hello you. Fine ']);
  });

  it('cancels the model when something that is blocked begins to stream', async () => {
    const model = new ScriptedChatModel([
      { text: 'A bomb is long.', deltas: ['A ', 'bomb', ' is long.'] },
    ]);
    const output = [{ rules: BOMB, action: 'block', answer: 'No.' }] as const;
    const spec = ChatClient.create(model).prompt('Go.').advisors(new GuardAdvisor({ output }));
    const response = await runSpec('stream', spec);

    expect(response.text).to.equal('No.');
    expect(model.cancelled).to.equal(1);
    expect(response.ledger.map(({ outcome }) => outcome)).to.deep.equal(['cancelled']);
  });

  it('an attempt that breaks off is retracted, and the next one guarded', async () => {
    const overloaded = new ModelCallError('overloaded', { retryable: true });
    const script = [{ text: 'I have a bomb', error: overloaded }, 'I have a bomb and time.'];
    const output = [{ rules: BOMB, action: 'redact' }] as const;
    const spec = ChatClient.create(new ScriptedChatModel(script))
      .prompt('Go.')
      .advisors(new GuardAdvisor({ output }), new RetryAdvisor({ firstDelay: 0 }));
    const events = await lastValueFrom(spec.stream().events().pipe(toArray()));

    expect(events.filter(({ type }) => type === 'retract')).to.have.length(1);
    expect(screensOf(events).screens.at(-1)).to.equal('I have a [word] and time.');
    expect(screensOf(events).screens.join()).not.to.include('bomb');
  });

  it('two guards hold one answer', async () => {
    const deltas = ['a bo', 'mb, 4111 1111 11', '11 1111.'];
    const { screens } = await streamed(
      [{ text: deltas.join(''), deltas }],
      { name: 'words', output: [{ rules: BOMB, action: 'redact' }] },
      { name: 'pii', output: [{ rules: piiRule(), action: 'redact' }] },
    );

    expect(screens.at(-1)).to.equal('a [word], [card].');
    expect(screens.join()).not.to.match(/bomb|4111/);
  });

  for (const mode of MODES) {
    it(`${mode}: entity() of a blocked turn is refused, and of a redacted answer read`, async () => {
      const schema = z.object({ mail: z.string() });
      const ask = (script: Script, options: GuardAdvisorOptions) => {
        const spec = ChatClient.create(new ScriptedChatModel(script))
          .prompt('Go.')
          .advisors(new GuardAdvisor(options), new StructuredOutputAdvisor());
        return mode === 'call' ? spec.call().entity(schema) : spec.stream().entity(schema);
      };
      const blocked = await failureOf(
        ask(['{"mail":"a bomb"}'], { output: [{ rules: BOMB, action: 'block' }] }),
      );
      const refused = await failureOf(
        ask([], { input: [{ rules: literal('Go'), action: 'block' }] }),
      );

      expect(await ask(['{"mail":"bob@mail.example"}'], redactsAll)).to.deep.equal({
        mail: '[email]',
      });
      for (const failure of [blocked, refused])
        expect(failure).to.be.instanceOf(StructuredOutputError).with.property('reason', 'refusal');
    });

    it(`${mode}: entity() has nothing that escapes of JSON have hidden`, async () => {
      const schema = z.object({ url: z.string() });
      const text = String.raw`{"url":"https:\/\/me:pass\u0077ord@a.example"}`;
      const spec = ChatClient.create(new ScriptedChatModel([text]))
        .prompt('Go.')
        .advisors(new GuardAdvisor(redactsAll));
      const { url } = await (mode === 'call'
        ? spec.call().entity(schema)
        : spec.stream().entity(schema));

      expect(url).to.equal('https:[url-password]');
    });

    it(`${mode}: an answer of another model stays one of that model when it is redacted`, async () => {
      const look = defineTool({ name: 'look', execute: () => 'seen' });
      const first = new ScriptedChatModel([
        new ModelCallError('down', { retryable: true }),
        'Done.',
      ]);
      const other = new ScriptedChatModel([
        { text: 'a bomb', reasoning: 'of another', toolCalls: [{ name: 'look' }] },
      ]);
      const spec = ChatClient.create(first)
        .prompt('Go.')
        .tools(look)
        .advisors(
          new GuardAdvisor({ output: [{ rules: BOMB, action: 'redact' }] }),
          new FallbackAdvisor({ models: [other] }),
        );
      await runSpec(mode, spec);

      const message = first.prompts[1]?.messages[1];
      expect(message).to.include({ role: 'assistant', content: 'a [word]' });
      expect(message).not.to.have.property('reasoning');
    });

    for (const where of ['input', 'output', 'parallel'] as const)
      it(`${mode}: a cancelled turn aborts the signal of its rules (${where})`, async () => {
        const controller = new AbortController();
        let aborted = false;
        const judge: CheckRule = {
          name: 'judge',
          check: (_text, { signal }) => {
            signal.addEventListener('abort', () => (aborted = true));
            setImmediate(() => controller.abort());
            return new Promise(() => undefined);
          },
        };
        const policies = [{ rules: judge, action: 'block' }] as const;
        const options = where === 'output' ? { output: policies } : { input: policies };
        const spec = ChatClient.create(new ScriptedChatModel(['Hi.']))
          .prompt('Go.')
          .advisors(new GuardAdvisor({ ...options, parallel: where === 'parallel' }))
          .signal(controller.signal);
        const failure = await failureOf(runSpec(mode, spec));
        await settle();

        expect(failure).to.be.instanceOf(CancelledError);
        expect(aborted).to.equal(true);
      });

    it(`${mode}: one advisor guards many turns at once`, async () => {
      const judge: CheckRule = {
        name: 'judge',
        check: async (text) => {
          await settle();
          return { flagged: text.includes('7') };
        },
      };
      const guard = new GuardAdvisor({
        input: [{ rules: judge, action: 'block', answer: 'No.' }],
        output: [{ rules: BOMB, action: 'redact' }],
        parallel: true,
      });
      const turns = Array.from({ length: 10 }, (_, at) =>
        runSpec(
          mode,
          ChatClient.create(new ScriptedChatModel([`bomb ${at}`]))
            .prompt(`q${at}`)
            .advisors(guard),
        ),
      );
      const texts = (await Promise.all(turns)).map(({ text }) => text);

      expect(texts).to.deep.equal(
        Array.from({ length: 10 }, (_, at) => (at === 7 ? 'No.' : `[word] ${at}`)),
      );
    });
  }
});

describe('GuardAdvisor over a wire', () => {
  const wire = useWireModel();
  const call = (index: number, text: string, name?: string) => ({
    tool_calls: [
      {
        index,
        ...(name && { id: 'c1', type: 'function' }),
        function: { ...(name && { name }), arguments: text },
      },
    ],
  });

  it('complaint of litellm#40784: blocks a call whose arguments arrive in harmless pieces', async () => {
    let ran = 0;
    const shell = defineTool({ name: 'shell', execute: () => void ran++ });
    wire.answer = (exchange) =>
      sendEvents(exchange, [
        chunk(call(0, '{"command":"rm', 'shell')),
        chunk(call(0, ' -r')),
        chunk(call(0, 'f /"}')),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]);
    const output = [{ rules: literal('rm -rf'), action: 'block', answer: 'No.' }] as const;
    const spec = ChatClient.create(wire.model)
      .prompt('Go.')
      .tools(shell)
      .advisors(new GuardAdvisor({ output }));
    const events = await lastValueFrom(spec.stream().events().pipe(toArray()));

    expect(screensOf(events).text).to.equal('No.');
    expect(ran).to.equal(0);
    expect(contentOf(events)).not.to.match(/rm| -r/);
  });

  it('shows nothing of a key that arrives in pieces, and sends the redacted text with the next request', async () => {
    const key = `sk-ant-${'abcdefgh'.repeat(4)}`;
    const look = defineTool({ name: 'look', execute: () => 'seen' });
    wire.answer = (exchange) =>
      exchange.index === 0
        ? sendEvents(exchange, [
            ...Array.from(`It is ${key}, ok?`, (character) => chunk({ content: character })),
            chunk(call(0, '{}', 'look')),
            chunk({}, 'tool_calls'),
            '[DONE]',
          ])
        : sendEvents(exchange, [chunk({ content: 'Done.' }), chunk({}, 'stop'), '[DONE]']);
    const spec = ChatClient.create(wire.model)
      .prompt('Go.')
      .tools(look)
      .advisors(new GuardAdvisor({ output: [{ rules: secretRule(), action: 'redact' }] }));
    const events = await lastValueFrom(spec.stream().events().pipe(toArray()));

    expect(screensOf(events).screens).to.include('It is [anthropic-key], ok?');
    expect(contentOf(events)).not.to.match(/sk-ant|abcdefgh/);
    expect(JSON.stringify(wire.server.exchanges[1]?.body)).to.include('It is [anthropic-key], ok?');
  });

  it('never sends a blocked question', async () => {
    wire.answer = (exchange) => sendJson(exchange, {});
    const input = [{ rules: BOMB as TextRule, action: 'block' }] as const;
    const spec = ChatClient.create(wire.model)
      .prompt('A bomb.')
      .advisors(new GuardAdvisor({ input }));
    for (const mode of MODES) await runSpec(mode, spec);

    expect(wire.server.exchanges).to.have.length(0);
  });
});
