import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { catchError, concat, EMPTY, of } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  ContextKey,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  ObservabilityAdvisor,
  OUTPUT_FORMAT,
  type Advisor,
  type ChatEvent,
  type ChatModel,
  type ChatOptions,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { shortTexts } from '../../support/conversation.js';
import {
  callOf,
  inConversation,
  INSIDE,
  look,
  sentTexts,
  setUpMemory,
} from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { recordSpans } from '../../support/recorded-spans.js';
import { requestFor } from '../../support/runs.js';
import { recorder } from '../../support/turn.js';

const DEFAULTS: ChatOptions = { model: 'b', temperature: 0.5, maxTokens: 9 };

/** A fallback to another model, by an operator and by an async function. */
const fallbacks = (other: ChatModel, order = INSIDE): Readonly<Record<string, Advisor>> => ({
  catchError: {
    name: 'fallback',
    order,
    advise: (request, chain) =>
      chain.next(request).pipe(catchError(() => chain.next(request.withModel(other)))),
  },
  around: defineAdvisor({
    name: 'fallback',
    order,
    around: async (request, next) => {
      try {
        return await next(request);
      } catch {
        return next(request.withModel(other));
      }
    },
  }),
});

/** Sends the iterations with these indexes to another model. */
const sending = (other: ChatModel, ...iterations: readonly number[]): Advisor =>
  defineAdvisor({
    name: 'router',
    order: INSIDE,
    before: (r) => (iterations.includes(r.iteration) ? r.withModel(other) : r),
  });

const toolNames = (options: ChatOptions | undefined): readonly string[] =>
  (options?.tools ?? []).map(({ definition }) => definition.name);

/** An answer with data that only its provider can read. */
const signed = (id: string, provider: string) => ({
  reasoning: `thoughts of ${provider}`,
  metadata: { [provider]: { signature: 's' } },
  toolCalls: [{ ...callOf(id), metadata: { [provider]: { signature: 't' } } }],
});

describe('withModel', () => {
  for (const mode of MODES)
    describe(mode, () => {
      for (const kind of ['catchError', 'around'] as const) {
        it(`[D15] falls back by ${kind}, with tools, tool context, format and context`, async () => {
          const NOTE = new ContextKey<string>('test.note', 'none');
          const seen: unknown[] = [];
          const peek = defineTool({
            name: 'peek',
            execute: (_input, { values, advisorContext }) =>
              void seen.push(values['tenant'], advisorContext.get(NOTE)),
          });
          const a = new ScriptedChatModel([new Error('down'), new Error('down')]);
          const b = new ScriptedChatModel(
            [{ toolCalls: [{ name: 'peek' }] }, '{"ok":true}'],
            DEFAULTS,
          );
          const spec = ChatClient.create(a)
            .prompt('q')
            .tools(peek)
            .toolContext({ tenant: 'acme' })
            .advisors(fallbacks(b)[kind] as Advisor, (p) =>
              p.param(NOTE, 'kept').param(OUTPUT_FORMAT, { text: 'As JSON.' }),
            );
          const { text } = await runSpec(mode, spec);

          expect(text).to.equal('{"ok":true}');
          expect(seen).to.deep.equal(['acme', 'kept']);
          const [sentToA, sentToB] = [a.prompts[0], b.prompts[0]];
          expect(sentToB?.messages).to.deep.equal(sentToA?.messages);
          expect(shortTexts(sentToB?.messages ?? [])).to.deep.equal(['q\nAs JSON.']);
          expect(toolNames(sentToB?.options)).to.deep.equal(['peek']);
          expect(sentToB?.options).to.include(DEFAULTS);
        });

        it(`[D15] retracts by ${kind} what the first model has streamed`, async () => {
          const a = new ScriptedChatModel([
            { toolCalls: [callOf('a')] },
            { deltas: ['half an '], error: new Error('broken') },
          ]);
          const b = new ScriptedChatModel(['done'], DEFAULTS);
          const events: string[] = [];
          const listen = defineAdvisor({
            name: 'listen',
            order: 1,
            onEvent: (event) => {
              if (event.type === 'text-delta') events.push(event.text);
              else if (event.type === 'retract') events.push(`retract ${event.iteration}`);
              else if (event.type === 'iteration-start')
                events.push(`start ${event.index} ${event.model}`);
            },
          });
          const spec = ChatClient.create(a).prompt('q').tools(look);
          const response = await runSpec(
            mode,
            spec.advisors(listen, fallbacks(b)[kind] as Advisor),
          );

          expect(events.filter((text) => !text.startsWith('start'))).to.deep.equal(
            mode === 'call' ? [] : ['half an ', 'retract 1', 'done'],
          );
          expect(events.filter((text) => text.startsWith('start'))).to.deep.equal([
            'start 0 scripted',
            'start 1 scripted',
            'start 1 b',
          ]);
          expect(
            response.ledger.map(({ model, iteration, attempt, outcome }) =>
              [model, iteration, attempt, outcome].join(' '),
            ),
          ).to.deep.equal([
            'scripted 0 1 answered',
            'scripted 1 1 failed',
            'scripted 1 2 answered',
          ]);
        });
      }

      it('[D15] replaces the default options of the first model, and keeps the options of the request', async () => {
        const [own, theirs] = ['own', 'theirs'].map((name) =>
          defineTool({ name, execute: () => 1 }),
        );
        const a = new ScriptedChatModel([], {
          model: 'a',
          seed: 1,
          topP: 0.1,
          stopSequences: ['A'],
          extraBody: { a: 1 },
          tools: own ? [own] : [],
          toolContext: { from: 'a', tenant: 'a' },
        });
        const b = new ScriptedChatModel(['ok'], {
          ...DEFAULTS,
          stopSequences: ['B'],
          extraBody: { b: 1 },
          tools: theirs ? [theirs] : [],
          toolContext: { from: 'b' },
        });
        const contexts: unknown[] = [];
        const record = defineAdvisor({
          name: 'record',
          order: INSIDE + 1,
          before: ({ toolContext }) => void contexts.push(toolContext),
        });
        const spec = ChatClient.create(a)
          .prompt('q')
          .tools(look)
          .toolContext({ tenant: 'acme' })
          .options({ topP: 0.2, maxTokens: 7, stopSequences: ['Q'], extraBody: { q: 1 } });
        await runSpec(mode, spec.advisors(sending(b, 0), record));
        const { tools, ...options } = b.prompts[0]?.options ?? {};

        expect(options).to.deep.equal({
          model: 'b',
          temperature: 0.5,
          topP: 0.2,
          maxTokens: 7,
          stopSequences: ['B', 'Q'],
          extraBody: { b: 1, q: 1 },
        });
        expect(toolNames({ tools })).to.deep.equal(['look', 'theirs']);
        expect(contexts).to.deep.equal([{ from: 'b', tenant: 'acme' }]);
      });

      it('[D15] runs the default tools of the other model', async () => {
        const theirs = defineTool({ name: 'theirs', execute: () => 'of b' });
        const b = new ScriptedChatModel([{ toolCalls: [{ name: 'theirs' }] }], { tools: [theirs] });
        const a = new ScriptedChatModel(['done']);
        await runSpec(mode, ChatClient.create(a).prompt('q').advisors(sending(b, 0)));

        expect(a.prompts[0]?.messages.at(-1)).to.include({ role: 'tool', content: 'of b' });
        expect(toolNames(a.prompts[0]?.options)).to.deep.equal([]);
      });

      it('[D15] sends each model only what it can read, and keeps the ids', async () => {
        const a = new ScriptedChatModel([signed('k1', 'a'), 'done']);
        const b = new ScriptedChatModel([signed('k2', 'b')], DEFAULTS);
        await runSpec(mode, ChatClient.create(a).prompt('q').tools(look).advisors(sending(b, 1)));
        const sent = [...b.prompts, ...a.prompts.slice(1)].map((prompt) => ({
          texts: shortTexts(prompt.messages),
          signedBy: prompt.messages.flatMap((m) =>
            'metadata' in m ? Object.keys(m.metadata ?? {}) : [],
          ),
          callsSignedBy: prompt.messages.flatMap((m) =>
            m.role === 'assistant' ? callsOf(m).flatMap((c) => Object.keys(c.metadata ?? {})) : [],
          ),
          reasoning: prompt.messages.flatMap((m) =>
            m.role === 'assistant' ? (m.reasoning ?? []) : [],
          ),
        }));

        expect(sent).to.deep.equal([
          { texts: ['q', '>k1', '<k1'], signedBy: [], callsSignedBy: [], reasoning: [] },
          {
            texts: ['q', '>k1', '<k1', '>k2', '<k2'],
            signedBy: ['a'],
            callsSignedBy: ['a'],
            reasoning: ['thoughts of a'],
          },
        ]);
      });

      it('[D15] knows the author of a message that an advisor has copied', async () => {
        const a = new ScriptedChatModel(['done']);
        const b = new ScriptedChatModel([signed('k1', 'b')], DEFAULTS);
        const copy = defineAdvisor({
          name: 'copy',
          order: INSIDE,
          before: (r) => r.withTranscript((m) => m.map((each) => ({ ...each }))),
        });
        await runSpec(
          mode,
          ChatClient.create(a).prompt('q').tools(look).advisors(sending(b, 0), copy),
        );

        expect(a.prompts[0]?.messages[1]).to.deep.equal({
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'k1', name: 'look', arguments: '{"id":"k1"}' }],
        });
      });

      it('[D15] stores an answer of another model without its data in the memory', async () => {
        const { client, repository } = setUpMemory([{ text: '1', metadata: { a: 1 } }]);
        const b = new ScriptedChatModel(
          [{ text: '2', metadata: { b: 1 }, reasoning: 'r' }],
          DEFAULTS,
        );
        await runSpec(mode, inConversation(client.prompt('1?')));
        await runSpec(mode, inConversation(client.prompt('2?').advisors(sending(b, 0))));
        const { messages } = await repository.read('c');

        expect(messages.map(({ message }) => message).slice(1)).to.deep.equal([
          { role: 'assistant', content: '1', metadata: { a: 1 } },
          { role: 'user', content: '2?' },
          { role: 'assistant', content: '2' },
        ]);
      });

      it('[D15] stores an answer without data of another model that an advisor left of the memory chose', async () => {
        const { client, repository } = setUpMemory([]);
        const b = new ScriptedChatModel([{ text: '1', metadata: { b: 1 }, reasoning: 'r' }]);
        const left = defineAdvisor({
          name: 'left',
          order: AdvisorOrder.GUARD,
          before: (r) => r.withModel(b),
        });
        await runSpec(mode, inConversation(client.prompt('1?').advisors(left)));
        const { messages } = await repository.read('c');

        expect(messages.at(-1)?.message).to.deep.equal({
          role: 'assistant',
          content: '1',
        });
      });

      it('[D15] knows the author of each alternative of an answer', async () => {
        const a = new ScriptedChatModel(['done']);
        const alternative = {
          role: 'assistant',
          content: null,
          ...signed('k1', 'b'),
          toolCalls: [{ id: 'k1', name: 'look', arguments: '{"id":"k1"}', metadata: { b: 1 } }],
        } as const;
        const response = new ChatResponse({
          generations: [
            { message: { role: 'assistant', content: 'no' }, finishReason: 'stop' },
            { message: alternative, finishReason: 'toolCalls' },
          ],
        });
        const b = new ScriptedChatModel([response], DEFAULTS);
        const choosing = defineAdvisor({
          name: 'choosing',
          order: AdvisorOrder.TOOL_CALLING + 1,
          after: (answer) => answer.with({ generations: answer.generations.slice(-1) }),
        });
        await runSpec(
          mode,
          ChatClient.create(a).prompt('q').tools(look).advisors(choosing, sending(b, 0)),
        );

        expect(a.prompts[0]?.messages[1]).to.deep.equal({
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'k1', name: 'look', arguments: '{"id":"k1"}' }],
        });
      });

      it('[D15] goes to the other model for the whole turn, left of the loop', async () => {
        const a = new ScriptedChatModel([]);
        const b = new ScriptedChatModel([{ toolCalls: [callOf('k1')] }, 'done'], DEFAULTS);
        const left = defineAdvisor({
          name: 'left',
          order: AdvisorOrder.GUARD,
          before: (r) => r.withModel(b),
        });
        await runSpec(mode, ChatClient.create(a).prompt('q').tools(look).advisors(left));

        expect(sentTexts(b)).to.deep.equal([['q'], ['q', '>k1', '<k1']]);
      });

      it('[D15] observes the call as one of the other model', async () => {
        const { tracer, spans } = recordSpans();
        const b = Object.assign(new ScriptedChatModel([{ text: 'ok', model: 'b-1' }], DEFAULTS), {
          provider: { name: 'provider-b' },
        });
        const spec = ChatClient.create(new ScriptedChatModel([])).prompt('q');
        await runSpec(mode, spec.advisors(new ObservabilityAdvisor({ tracer }), sending(b, 0)));
        const span = spans.find(({ name }) => name === 'chat b');

        expect(span?.attributes).to.include({
          'gen_ai.provider.name': 'provider-b',
          'gen_ai.request.model': 'b',
          'gen_ai.request.temperature': 0.5,
          'gen_ai.response.model': 'b-1',
        });
      });

      it('[D15] gives a retract of a model that falls back by itself its iteration', async () => {
        const inner = new ScriptedChatModel([{ deltas: ['no'], error: new Error('x') }, 'done']);
        const model: ChatModel = {
          defaultOptions: {},
          call: (prompt, run) => inner.call(prompt, run).catch(() => inner.call(prompt, run)),
          stream: (prompt, run) =>
            concat(
              inner.stream(prompt, run).pipe(catchError(() => EMPTY)),
              of({ type: 'retract', iteration: 0 } as const),
              inner.stream(prompt, run),
            ),
        };
        const a = new ScriptedChatModel([{ toolCalls: [callOf('1')] }]);
        const events: ChatEvent[] = [];
        const spec = ChatClient.create(a).prompt('q').tools(look).advisors(recorder(events));
        const response = await runSpec(mode, spec.advisors(sending(model, 1)));

        expect(response.text).to.equal('done');
        expect(events.filter(({ type }) => type === 'retract')).to.deep.equal(
          mode === 'call' ? [] : [{ type: 'retract', iteration: 1 }],
        );
      });

      it('[D15] refuses tools of two models with one name', async () => {
        const b = new ScriptedChatModel([], { tools: [{ ...look }] });
        const spec = ChatClient.create(new ScriptedChatModel([])).prompt('q').tools(look);
        const error = (await failureOf(runSpec(mode, spec.advisors(sending(b, 0))))) as Error;

        expect(error.message).to.equal(
          `advisor "router" broke the request: two tools have the same name: look, one of the request, one of the model's default options; nothing was sent`,
        );
      });
    });

  it('[D15] rejects what is no model', () => {
    expect(() => requestFor().withModel({} as ChatModel)).to.throw(
      InvalidArgumentError,
      'withModel(…): model must be a chat model with call and stream',
    );
  });
});
