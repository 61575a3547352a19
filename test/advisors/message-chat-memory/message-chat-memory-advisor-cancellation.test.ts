import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type MessageChatMemoryAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { invalidReason, shortTexts } from '../../support/conversation.js';
import { callOf, INSIDE } from '../../support/memory-advisor.js';

const script = [
  { text: 'Let me see.', toolCalls: [callOf('a'), callOf('b')] },
  { toolCalls: [callOf('c')] },
  { deltas: ['one ', 'two ', 'three'] },
];
const look = defineTool({
  name: 'look',
  input: { type: 'object' },
  execute: async ({ id }) => (
    await new Promise((resolve) => setImmediate(resolve)),
    `result of ${String(id)}`
  ),
});
const WHOLE = ['1?', '>a>b', '<a', '<b', '>c', '<c', 'one two three'];

/** True if the messages are the start of the whole turn; the last text may be partial. */
function isStartOfTurn(stored: readonly string[]): boolean {
  return stored.every(
    (text, at) =>
      text === WHOLE[at] || (at === stored.length - 1 && 'one two three'.startsWith(text)),
  );
}

/** True for the partial text of an iteration. */
function isPartialText(text: string): boolean {
  return text !== '' && ['Let me see.', 'one two three'].some((whole) => whole.startsWith(text));
}

const POLICIES: Readonly<
  Record<
    string,
    [
      options: Partial<MessageChatMemoryAdvisorOptions>,
      isAllowed: (stored: readonly string[]) => boolean,
    ]
  >
> = {
  'stores nothing': [{}, (stored) => stored.length === 0],
  'stores nothing, with storeToolMessages': [
    { storeToolMessages: true },
    (stored) => stored.length === 0,
  ],
  'stores the partial answer': [
    { onIncomplete: 'keep-partial' },
    (stored) =>
      stored.length === 0 ||
      (stored.length === 2 && stored[0] === '1?' && isPartialText(stored[1] ?? '')),
  ],
  'stores the partial answer and tool messages': [
    { onIncomplete: 'keep-partial', storeToolMessages: true },
    (stored) =>
      isStartOfTurn(stored) ||
      (stored.length === 2 && stored[0] === '1?' && isPartialText(stored[1] ?? '')),
  ],
  'stores iterations, inside the loop': [{ order: INSIDE }, isStartOfTurn],
};

describe('MessageChatMemoryAdvisor when a turn is cancelled', () => {
  for (const how of ['unsubscribed', 'aborted'] as const)
    for (const [name, [options, isAllowed]] of Object.entries(POLICIES))
      it(`[F61] ${name}, and the next request is valid (${how} at any event)`, async () => {
        const states = new Set<string>();
        let count = Infinity;
        for (let at = 0; at < count; at++) {
          const repository = new InMemoryChatMemoryRepository();
          const model = new ScriptedChatModel([...script, 'never']);
          const chatMemory = new MessageWindowChatMemory({ repository });
          const client = ChatClient.builder(model)
            .defaultTools(look)
            .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, ...options }))
            .build();
          const controller = new AbortController();
          let seen = 0;
          await new Promise<void>((resolve) => {
            const subscription = client
              .prompt('1?')
              .advisors((a) => a.param(CONVERSATION_ID, 'c'))
              .signal(controller.signal)
              .stream()
              .events()
              .subscribe({
                next: () => {
                  if (seen++ !== at) return;
                  if (how === 'aborted') controller.abort();
                  // the first events come before `subscribe` returns
                  else queueMicrotask(() => (subscription.unsubscribe(), resolve()));
                },
                error: () => resolve(),
                complete: () => ((count = Math.min(count, seen)), resolve()),
              });
          });
          for (let tick = 0; tick < 10; tick++)
            await new Promise((resolve) => setImmediate(resolve));

          const stored = shortTexts(
            (await repository.read('c')).messages.map(({ message }) => message),
          );
          // a turn that is not cancelled in time succeeds
          const isWhole =
            stored.at(-1) === 'one two three' &&
            (stored.length === 2 || stored.length === WHOLE.length);
          expect(
            isWhole || isAllowed(stored),
            `${name}, cancelled at event ${at}: ${stored.join(' | ')}`,
          ).to.equal(true);
          states.add(stored.join('|'));
          const next = new ScriptedChatModel(['2!']);
          await ChatClient.builder(next)
            .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
            .build()
            .prompt('2?')
            .advisors((a) => a.param(CONVERSATION_ID, 'c'))
            .call()
            .content();
          expect(invalidReason(next.prompts[0]?.messages ?? []), `after event ${at}`).to.equal(
            undefined,
          );
          if (seen <= at) break;
        }
        expect(states.size).to.be.at.least(2);
      });

  for (const storeToolMessages of [true, false])
    it(`[D82] keeps a text that was shown before its tools began, storeToolMessages ${storeToolMessages}`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const options = { chatMemory, onIncomplete: 'keep-partial', storeToolMessages } as const;
      const client = ChatClient.builder(new ScriptedChatModel(script))
        .defaultTools(look)
        .defaultAdvisors(new MessageChatMemoryAdvisor(options))
        .build();
      const controller = new AbortController();
      const spec = client.prompt('1?').signal(controller.signal);

      const events = spec
        .advisors((a) => a.param(CONVERSATION_ID, 'c'))
        .stream()
        .events();
      await new Promise<void>((resolve) => {
        const next = ({ type }: { readonly type: string }): void => {
          if (type === 'iteration') controller.abort();
        };
        events.subscribe({ next, error: () => resolve(), complete: () => resolve() });
      });
      await new Promise((resolve) => setImmediate(resolve));

      const { messages } = await repository.read('c');
      const stored = shortTexts(messages.map(({ message }) => message));
      expect(stored).to.deep.equal(['1?', 'Let me see.']);
    });
});
