import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  AdvisorOrder,
  ChainError,
  ChatClient,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  ObservabilityAdvisor,
  type Advisor,
  type ChatClientRequest,
  type Message,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { assistant, calls, result, system, user } from '../../support/conversation.js';
import { callOf, INSIDE, look } from '../../support/memory-advisor.js';
import { failureOf, MODES, type Mode, runSpec } from '../../support/modes.js';

const other = defineTool({ name: 'look', description: 'another', execute: () => 1 });

const by = (
  name: string,
  order: number,
  before: (request: ChatClientRequest) => ChatClientRequest,
): Advisor => defineAdvisor({ name, order, before });

const view = (change: (messages: readonly Message[]) => readonly Message[]) => {
  return (request: ChatClientRequest) => request.withMessages(change(request.prompt.messages));
};

/** Advisors that change something on both sides of the culprit, without breaking it. */
const bystanders = [
  by('left', AdvisorOrder.GUARD, (r) => r.withOptions({ temperature: 0 })),
  by(
    'before',
    INSIDE,
    view((m) => [...m]),
  ),
  by(
    'after',
    INSIDE + 2,
    view((m) => m.map((each) => ({ ...each }))),
  ),
  defineAdvisor({ name: 'wrapper', order: INSIDE + 3, around: (r, next) => next(r.with({})) }),
];

const HISTORY = [user('1?'), calls('x', 'y'), result('x'), result('y'), assistant('1!')];
const BROKEN: Readonly<
  Record<string, [change: (request: ChatClientRequest) => ChatClientRequest, problem: string]>
> = {
  'a dropped result': [
    view((m) => m.filter((each) => each.role !== 'tool' || each.toolCallId !== 'y')),
    'the call "y" of the tool "look" has no result',
  ],
  'an orphan result': [
    view((m) => m.filter((each) => each.role !== 'assistant' || callsOf(each).length === 0)),
    'the result "x" belongs to no call before it',
  ],
  'a result in the wrong place': [
    view((m) => m.toSorted((a, b) => Number(a.role === 'tool') - Number(b.role === 'tool'))),
    'the call "x" of the tool "look" has no result',
  ],
  'a second result': [
    view((m) => m.flatMap((each): Message[] => (each.role === 'tool' ? [each, each] : [each]))),
    'the result "x" belongs to no call before it',
  ],
  'a system message after others': [
    view((m) => [...m, system('extra')]),
    'a system message stands after other messages',
  ],
  'two tools of one name': [
    (r) => r.withTools([...r.tools, other]),
    'two tools have the same name: look, one of the request, one of advisor "culprit"',
  ],
  'a tool given twice': [
    (r) => r.withTools([...r.tools, look]),
    'two tools have the same name: look, one of the request, one of advisor "culprit"',
  ],
  'two calls with one id': [
    view((m) =>
      m.flatMap((each): Message[] => {
        if (each.role === 'tool') return each.toolCallId === 'x' ? [each] : [];
        if (each.role !== 'assistant') return [each];
        return [{ ...each, toolCalls: callsOf(each).map((call) => ({ ...call, id: 'x' })) }];
      }),
    ),
    'two calls of one message have the id "x"',
  ],
  'no user message': [
    view((m) => m.filter(({ role }) => role !== 'user')),
    'it has no user message',
  ],
};

function specFor(model: ScriptedChatModel, ...advisors: readonly Advisor[]): PromptSpec {
  return ChatClient.create(model)
    .prompt()
    .messages(HISTORY)
    .user('2?')
    .tools(look)
    .advisors(...advisors);
}

const failure = async (mode: Mode, spec: PromptSpec): Promise<Error> =>
  (await failureOf(runSpec(mode, spec))) as Error;

describe('checkModelRequest', () => {
  for (const mode of MODES)
    describe(mode, () => {
      for (const [name, [change, problem]] of Object.entries(BROKEN))
        for (const [place, order] of [
          ['left of the loop', AdvisorOrder.RETRIEVAL],
          ['inside the loop', INSIDE + 1],
        ] as const)
          it(`[D9] names the advisor that made ${name}, ${place}`, async () => {
            const model = new ScriptedChatModel(['never']);
            const culprit = by('culprit', order, change);
            const error = await failure(mode, specFor(model, ...bystanders, culprit));

            expect(error).to.be.instanceOf(ChainError);
            expect(error.message).to.equal(
              `advisor "culprit" broke the request: ${problem}; nothing was sent`,
            );
            expect(model.prompts).to.deep.equal([]);
          });

      it('[D9] names the advisor of an observed run, and of a later iteration', async () => {
        const model = new ScriptedChatModel([{ toolCalls: [callOf('a')] }, 'never']);
        const culprit = by('culprit', INSIDE + 1, (request) =>
          request.iteration > 0
            ? view((m) => m.filter((each) => each !== m.at(-1)))(request)
            : request,
        );
        const advisors = [new ObservabilityAdvisor(), ...bystanders, culprit];
        const error = await failure(mode, specFor(model, ...advisors));

        expect(error.message).to.equal(
          'advisor "culprit" broke the request: the call "a" of the tool "look" has no result; nothing was sent',
        );
        expect(model.prompts).to.have.length(1);
      });

      it('[D9] names the first of two advisors that break the same thing', async () => {
        const change = BROKEN['a dropped result']?.[0] ?? ((r) => r);
        const advisors = [
          by('first', INSIDE, change),
          by(
            'second',
            INSIDE + 1,
            view((m) => [...m]),
          ),
        ];
        const { message } = await failure(mode, specFor(new ScriptedChatModel([]), ...advisors));

        expect(message).to.match(/^advisor "first" broke/);
      });

      it('[D9] sends what an advisor has repaired', async () => {
        const advisors = [
          by(
            'breaks',
            INSIDE,
            view((m) => m.filter(({ role }) => role !== 'tool')),
          ),
          by(
            'repairs',
            INSIDE + 1,
            view(() => [user('?')]),
          ),
        ];

        expect(
          (await runSpec(mode, specFor(new ScriptedChatModel(['ok']), ...advisors))).text,
        ).to.equal('ok');
      });

      for (const [name, messages] of [
        ['alone', [user(' ')]],
        ['after an answer', [user('Hello'), assistant('Hi, I am'), user('\n')]],
        ['without parts', [{ role: 'user', content: [] }]],
      ] as const)
        it(`[D102] refuses a blank question ${name}`, async () => {
          const model = new ScriptedChatModel([]);
          const error = await failure(mode, ChatClient.create(model).prompt().messages(messages));

          expect(error).to.be.instanceOf(InvalidArgumentError);
          expect(error.message).to.equal(
            'the request is broken: its last message, of the user, is blank; send a text or media; nothing was sent',
          );
        });

      it('[D102] sends a blank message beside a question, a result or instructions', async () => {
        for (const messages of [
          [user('Hello'), user(' ')],
          [user('?'), calls('x'), result('x'), user('')],
          [{ role: 'system', content: 'Write a joke.' } as const, user('')],
        ]) {
          const spec = ChatClient.create(new ScriptedChatModel(['ok'])).prompt();

          expect((await runSpec(mode, spec.messages(messages))).text).to.equal('ok');
        }
      });

      it('[D9] refuses a broken request of the application as an argument', async () => {
        const model = new ScriptedChatModel([]);
        const spec = ChatClient.create(model).prompt().messages(calls('x'), user('?'));
        const error = await failure(mode, spec.advisors(...bystanders));

        expect(error).to.be.instanceOf(InvalidArgumentError);
        expect(error.message).to.equal(
          'the request is broken: the call "x" of the tool "look" has no result; nothing was sent: see repairHistory(messages)',
        );
      });

      it('[D9] leaves the order of system messages and a missing question to the application', async () => {
        const model = new ScriptedChatModel(['1', '2']);
        const client = ChatClient.create(model);
        const misplaced = client
          .prompt()
          .messages(user('?'), system('extra'))
          .advisors(...bystanders);

        expect((await runSpec(mode, misplaced)).text).to.equal('1');
        expect((await runSpec(mode, client.prompt().system('Go.'))).text).to.equal('2');
      });

      it('[D9] sends system messages in any place to a model that takes them', async () => {
        const script: Script = ['ok'];
        const model = Object.assign(new ScriptedChatModel(script), { systemMessages: 'anywhere' });
        const misplaced = by(
          'x',
          1,
          view((m) => [...m, system('extra')]),
        );

        expect((await runSpec(mode, specFor(model as ScriptedChatModel, misplaced))).text).to.equal(
          'ok',
        );
      });
    });
});
