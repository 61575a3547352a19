import { expect } from 'chai';
import { defer, retry } from 'rxjs';
import type { RunRecord } from '../../../src/core/chat/run-record.js';
import {
  AdvisorOrder,
  ChainError,
  ChatClient,
  defineAdvisor,
  ModelCallError,
  textOf,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  type Advisor,
  type ChatClientRequest,
  type ChatClientResponse,
  type Message,
  type PromptSpec,
} from '../../../src/index.js';
import { trimToolResults } from '../../../src/stores/chat-memory/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { assistant, shortTexts, user } from '../../support/conversation.js';
import { callOf, INSIDE, look, sentTexts, setUpMemory } from '../../support/memory-advisor.js';
import { inConversation, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, type Mode, runSpec } from '../../support/modes.js';

const TWO_CALLS: Script = [{ toolCalls: [callOf('a')] }, { toolCalls: [callOf('b')] }, 'done'];
const steer = user('steer');

/** An advisor that changes the request of one iteration. */
const changing = (
  name: string,
  order: number,
  change: (request: ChatClientRequest) => ChatClientRequest,
  iteration = 0,
): Advisor =>
  defineAdvisor({
    name,
    order,
    before: (request) => (request.iteration === iteration ? change(request) : request),
  });

const adding = (name: string, order: number, message: Message, iteration = 0): Advisor =>
  changing(name, order, (r) => r.withTranscript((m) => [...m, message]), iteration);

/** Shows the last user message in capitals to the model, in every iteration. */
const loud = (order: number): Advisor =>
  defineAdvisor({
    name: 'loud',
    order,
    before: (r) =>
      r.withMessages(
        r.prompt.messages.map((m) => (m.role === 'user' ? user(`${textOf(m.content)}!`) : m)),
      ),
  });

const isOld = (messages: readonly Message[]): boolean => messages.some((m) => m.role === 'tool');

/** Replaces all calls and results by a summary before the given iteration. */
const summarize = (order: number, iteration = 1): Advisor =>
  changing(
    'compaction',
    order,
    (request) =>
      request.withTranscript((messages) =>
        isOld(messages)
          ? [
              ...messages.filter(({ role }) => role === 'system' || role === 'user'),
              user('(summary)'),
            ]
          : messages,
      ),
    iteration,
  );

async function sent(
  mode: Mode,
  script: Script,
  ...advisors: readonly Advisor[]
): Promise<readonly (readonly string[])[]> {
  const model = new ScriptedChatModel(script);
  const spec = ChatClient.create(model)
    .prompt('q')
    .tools(look)
    .advisors(...advisors);
  await runSpec(mode, spec);
  return sentTexts(model);
}

/** Runs a spec to its end and returns the report of the run. */
async function report(mode: Mode, spec: PromptSpec): Promise<RunRecord> {
  const runs: RunRecord[] = [];
  const before = ({ run }: ChatClientRequest): void => void runs.push(run);
  await runSpec(mode, spec.advisors(defineAdvisor({ name: 'report', order: 0, before })));
  return runs[0] as RunRecord;
}

describe('withTranscript', () => {
  for (const mode of MODES)
    describe(mode, () => {
      it('[D1] adds a message of iteration 0 to all later iterations (spring-ai#6842)', async () => {
        expect(await sent(mode, TWO_CALLS, adding('steer', INSIDE, steer))).to.deep.equal([
          ['q', 'steer'],
          ['q', 'steer', '>a', '<a'],
          ['q', 'steer', '>a', '<a', '>b', '<b'],
        ]);
      });

      it('[D1] shows a message of withMessages in its own iteration only', async () => {
        const view = changing('view', INSIDE, (r) => r.withMessages([...r.prompt.messages, steer]));

        expect(await sent(mode, TWO_CALLS, view)).to.deep.equal([
          ['q', 'steer'],
          ['q', '>a', '<a'],
          ['q', '>a', '<a', '>b', '<b'],
        ]);
      });

      it('[D1] replaces old results by a summary, from which the loop continues', async () => {
        expect(await sent(mode, TWO_CALLS, summarize(INSIDE))).to.deep.equal([
          ['q'],
          ['q', '(summary)'],
          ['q', '(summary)', '>b', '<b'],
        ]);
      });

      for (const [order, name] of [
        [INSIDE - 0.5, 'before'],
        [INSIDE + 0.5, 'after'],
      ] as const)
        it(`[D1] composes with an advisor ${name} it that changes the view`, async () => {
          const expected =
            name === 'before'
              ? [
                  ['q!', 'steer'],
                  ['q!', 'steer!', '>a', '<a'],
                  ['q!', 'steer!', '>a', '<a', '>b', '<b'],
                ]
              : [
                  ['q!', 'steer!'],
                  ['q!', 'steer!', '>a', '<a'],
                  ['q!', 'steer!', '>a', '<a', '>b', '<b'],
                ];

          const texts = await sent(mode, TWO_CALLS, loud(order), adding('steer', INSIDE, steer));

          expect(texts).to.deep.equal(expected);
        });

      it('[D1] applies the rewrites of two advisors', async () => {
        const advisors = [
          adding('first', INSIDE, user('1')),
          adding('second', INSIDE, user('2')),
          summarize(INSIDE + 1),
        ];

        expect(await sent(mode, TWO_CALLS, ...advisors)).to.deep.equal([
          ['q', '1', '2'],
          ['q', '1', '2', '(summary)'],
          ['q', '1', '2', '(summary)', '>b', '<b'],
        ]);
      });

      it('[D1] drops the rewrite of an attempt that failed', async () => {
        let attempts = 0;
        const again: Advisor = {
          name: 'again',
          order: INSIDE,
          advise: (request, chain) => defer(() => chain.next(request)).pipe(retry(1)),
        };
        const inAttempt = changing('note', INSIDE + 1, (request) => {
          const text = `attempt ${++attempts}`;
          return request.withTranscript((m) => [...m, user(text)]);
        });
        const script = [new Error('busy'), ...(TWO_CALLS as [])];

        expect(await sent(mode, script, again, inAttempt)).to.deep.equal([
          ['q', 'attempt 1'],
          ['q', 'attempt 2'],
          ['q', 'attempt 2', '>a', '<a'],
          ['q', 'attempt 2', '>a', '<a', '>b', '<b'],
        ]);
      });

      it('[D1] keeps the rewrite of the answer that `around` has chosen', async () => {
        const choose = defineAdvisor({
          name: 'choose',
          order: INSIDE,
          around: async (request, next) => {
            if (request.iteration > 0) return next(request);
            const first = await next(request.withTranscript((m) => [...m, user('1')]));
            await next(request.withTranscript((m) => [...m, user('2')]));
            return first;
          },
        });
        const script = [{ toolCalls: [callOf('a')] }, 'refused', 'done'];

        expect(await sent(mode, script, choose)).to.deep.equal([
          ['q', '1'],
          ['q', '2'],
          ['q', '1', '>a', '<a'],
        ]);
      });

      it('[D1] adds a message left of the loop, and without a loop', async () => {
        const left = adding('steer', AdvisorOrder.GUARD, steer);

        expect(await sent(mode, TWO_CALLS, left)).to.deep.equal([
          ['q', 'steer'],
          ['q', 'steer', '>a', '<a'],
          ['q', 'steer', '>a', '<a', '>b', '<b'],
        ]);
        const model = new ScriptedChatModel(['done']);
        const spec = ChatClient.create(model).prompt('q');
        await runSpec(mode, spec.advisors(left, toolCallingAutoRegister(false)));
        expect(sentTexts(model)).to.deep.equal([['q', 'steer']]);
      });

      it('[D1] reports the rewritten transcript', async () => {
        const spec = ChatClient.create(new ScriptedChatModel(TWO_CALLS)).prompt('q').tools(look);
        const run = await report(mode, spec.advisors(summarize(INSIDE)));

        expect(shortTexts(run.transcript)).to.deep.equal(['q', '(summary)', '>b', '<b', 'done']);
      });

      it('[D1] keeps results of return-direct tools in the report', async () => {
        const direct = { ...look, metadata: { ...look.metadata, returnDirect: true } };
        const spec = ChatClient.create(new ScriptedChatModel(TWO_CALLS)).prompt('q').tools(direct);
        const run = await report(mode, spec);

        expect(shortTexts(run.transcript)).to.deep.equal(['q', '>a', '<a', 'result of a']);
      });

      for (const order of [INSIDE, AdvisorOrder.GUARD])
        it(`[D1] refuses a rewrite that cuts a call from its result, at ${order}`, async () => {
          const cut = defineAdvisor({
            name: 'scissors',
            order,
            before: (r) => r.withTranscript((m) => m.filter(({ role }) => role !== 'tool')),
          });
          const model = new ScriptedChatModel(TWO_CALLS);
          const before = [
            user('1?'),
            { ...assistant(''), toolCalls: [{ id: 'x', name: 'look', arguments: '{}' }] },
            { role: 'tool', toolCallId: 'x', toolName: 'look', content: 'old' } as const,
            assistant('1!'),
          ];
          const spec = ChatClient.create(model).prompt().messages(before).user('q').tools(look);
          const error = await failureOf(
            runSpec(
              mode,
              spec.advisors(adding('other', INSIDE - 0.5, steer), cut, loud(INSIDE + 1)),
            ),
          );

          expect(error).to.be.instanceOf(ChainError);
          expect((error as Error).message).to.match(
            /^advisor "scissors" broke the (transcript|request): the call "x" of the tool "look" has no result;/,
          );
          expect(model.prompts).to.deep.equal([]);
        });

      describe('and chat memory', () => {
        const turns: Script = [...(TWO_CALLS as []), '2!'];

        for (const [name, order] of [
          ['right of the memory', AdvisorOrder.RETRIEVAL],
          ['left of the memory', AdvisorOrder.GUARD],
          ['inside the loop', INSIDE],
        ] as const)
          it(`[D1] stores an added message once, added ${name}`, async () => {
            const { client, repository } = setUpMemory(turns, {}, adding('steer', order, steer));
            await runSpec(mode, inConversation(client.prompt('q').tools(look)));

            expect(await storedTexts(repository)).to.deep.equal(['q', 'steer', 'done']);
          });

        it('[D1] reports what it has stored', async () => {
          const { client } = setUpMemory(turns);
          const { stored } = await report(mode, inConversation(client.prompt('q').tools(look)));

          expect(
            stored.map(({ conversationId, messages }) => [conversationId, shortTexts(messages)]),
          ).to.deep.equal([['c', ['q', 'done']]]);
        });

        it('[D1] stores nothing of the turn whose answer a cache gives again', async () => {
          let cached: ChatClientResponse | undefined;
          const cache = defineAdvisor({
            name: 'cache',
            order: AdvisorOrder.RETRIEVAL,
            around: async (request, next) => (cached ??= await next(request)),
          });
          const { client, repository } = setUpMemory(turns, {}, cache, adding('s', INSIDE, steer));
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          const stored = ['q', 'steer', 'done', 'q', 'done'];
          expect(await storedTexts(repository)).to.deep.equal(stored);
        });

        it('[D1] stores an added message without a tool loop', async () => {
          const left = adding('steer', AdvisorOrder.RETRIEVAL, steer);
          const { client, repository } = setUpMemory(['1!'], {}, left);
          const spec = inConversation(client.prompt('q'));
          await runSpec(mode, spec.advisors(toolCallingAutoRegister(false)));

          expect(await storedTexts(repository)).to.deep.equal(['q', 'steer', '1!']);
        });

        it('[D1] stores what was added between the tool messages, in this order', async () => {
          const advisors = [adding('steer', INSIDE, steer, 1), loud(INSIDE + 1)];
          const { client, repository, model } = setUpMemory(
            turns,
            { storeToolMessages: true },
            ...advisors,
          );
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          const stored = ['q', '>a', '<a', 'steer', '>b', '<b', 'done'];
          expect(await storedTexts(repository)).to.deep.equal(stored);
          await runSpec(mode, inConversation(client.prompt('q2')));
          expect(sentTexts(model).at(-1)).to.deep.equal([
            '[s]',
            'q!',
            '>a',
            '<a',
            'steer!',
            '>b',
            '<b',
            'done',
            'q2!',
          ]);
        });

        it('[D1] stores a summary in place of the tool messages that it replaced', async () => {
          const options = { storeToolMessages: true };
          const { client, repository } = setUpMemory(turns, options, summarize(INSIDE));
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          const stored = ['q', '(summary)', '>b', '<b', 'done'];
          expect(await storedTexts(repository)).to.deep.equal(stored);
        });

        it('[D1] stores a message that the view of the turn shows in another form', async () => {
          const advisors = [
            adding('left', AdvisorOrder.TOOL_SEARCH, user('left')),
            loud(AdvisorOrder.RETRIEVAL),
            adding('steer', INSIDE, steer),
          ];
          const { client, repository } = setUpMemory(turns, {}, ...advisors);
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          expect(await storedTexts(repository)).to.deep.equal(['q', 'left', 'steer', 'done']);
        });

        it('[D1] stores the added message of the attempt that a retry of the turn has kept', async () => {
          const again: Advisor = {
            name: 'again',
            order: AdvisorOrder.TOOL_SEARCH,
            advise: (request, chain) => chain.next(request).pipe(retry(1)),
          };
          const script: Script = [
            { toolCalls: [callOf('a')] },
            new Error('busy'),
            { toolCalls: [callOf('b')] },
            'done',
          ];
          const options = { storeToolMessages: true };
          const advisors = [again, adding('steer', INSIDE, steer)];
          const { client, repository } = setUpMemory(script, options, ...advisors);
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          const stored = ['q', 'steer', '>b', '<b', 'done'];
          expect(await storedTexts(repository)).to.deep.equal(stored);
        });

        it('[D1] stores an added message of a turn that failed, with keep-partial', async () => {
          const options = { storeToolMessages: true, onIncomplete: 'keep-partial' } as const;
          const script = [{ toolCalls: [callOf('a')] }, new Error('busy')];
          const { client, repository } = setUpMemory(
            script,
            options,
            adding('steer', INSIDE, steer),
          );
          await failureOf(runSpec(mode, inConversation(client.prompt('q').tools(look))));

          expect(await storedTexts(repository)).to.deep.equal(['q', 'steer', '>a', '<a', '']);
        });

        it('[D1] stores an added message of a turn whose first call failed, with keep-partial', async () => {
          const error = new ModelCallError('cut off', { partialText: 'half' });
          const options = { onIncomplete: 'keep-partial' } as const;
          const { client, repository } = setUpMemory(
            [error],
            options,
            adding('steer', INSIDE, steer),
          );
          await failureOf(runSpec(mode, inConversation(client.prompt('q'))));

          expect(await storedTexts(repository)).to.deep.equal(['q', 'steer', 'half']);
        });

        it('[D1] stores the original of a message that the view or the transcript replaces', async () => {
          const rewrite = changing('rewrite', INSIDE, (request) =>
            request.withTranscript((messages) =>
              messages.map((m) => (m.role === 'user' ? user('Q') : m)),
            ),
          );
          const advisors = [loud(AdvisorOrder.RETRIEVAL), rewrite];
          const { client, repository } = setUpMemory(turns, {}, ...advisors);
          await runSpec(mode, inConversation(client.prompt('q').tools(look)));

          expect(await storedTexts(repository)).to.deep.equal(['q', 'done']);
        });

        for (const [name, order] of [
          ['left', INSIDE - 0.5],
          ['right', INSIDE + 0.5],
        ] as const)
          it(`[D1] a memory inside the loop stores a message added ${name} of it once`, async () => {
            const { client, repository, model } = setUpMemory(
              turns,
              { order: INSIDE },
              new ToolCallingAdvisor({ keepHistory: false }),
              adding('steer', order, steer, 0),
              adding('more', order, user('more'), 1),
            );
            await runSpec(mode, inConversation(client.prompt('q').tools(look)));

            const stored = ['q', 'steer', '>a', '<a', 'more', '>b', '<b', 'done'];
            expect(await storedTexts(repository)).to.deep.equal(stored);
            expect(sentTexts(model)).to.deep.equal([
              ['[s]', 'q', 'steer'],
              ['[s]', 'q', 'steer', '>a', '<a', 'more'],
              ['[s]', 'q', 'steer', '>a', '<a', 'more', '>b', '<b'],
            ]);
          });
      });

      it('[D1] keeps no request of an earlier iteration in the context', async () => {
        const seen: string[][] = [];
        const copying = defineAdvisor({
          name: 'copying',
          order: INSIDE,
          before: (request) => {
            seen.push([...request.context.entries()].flatMap(([key, value]) => (value ? key : [])));
            return request.withTranscript((messages) => [...messages]);
          },
        });
        const model = new ScriptedChatModel(TWO_CALLS);

        await runSpec(mode, ChatClient.create(model).prompt('q').tools(look).advisors(copying));

        expect(seen).to.deep.equal([[], [], []]);
      });

      describe('and a long turn', () => {
        const long = { ...look, call: () => Promise.resolve({ content: 'x'.repeat(2_000) }) };
        const script: Script = (_prompt, at) =>
          at < 8 ? { toolCalls: [callOf(`c${at}`)] } : 'done';
        const trim = trimToolResults({ keepLast: 1 });
        const views = {
          withTranscript: (r: ChatClientRequest) => r.withTranscript(trim),
          withMessages: (r: ChatClientRequest) => r.withMessages(trim(r.prompt.messages)),
        };

        for (const [name, before] of Object.entries(views))
          it(`[D11] stays short with trimToolResults through ${name}`, async () => {
            const model = new ScriptedChatModel(script);
            const shorten = defineAdvisor({ name: 'shorten', order: INSIDE, before });
            const spec = ChatClient.create(model).prompt('q').tools(long).advisors(shorten);
            const run = await report(mode, spec);
            const sizes = model.prompts.map(({ messages }) => JSON.stringify(messages).length);

            expect(Math.max(...sizes)).to.be.below(5_000);
            expect(sentTexts(model).at(-1)).to.have.length(17);
            const kept = JSON.stringify(run.transcript).length;
            expect(kept < 5_000).to.equal(name === 'withTranscript');
          });
      });
    });
});
