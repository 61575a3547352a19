import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { retry } from 'rxjs/operators';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  ModelCallError,
  ObservabilityAdvisor,
  SummarizingChatMemory,
  ToolCallingAdvisor,
  type Advisor,
  type Usage,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { recordSpans } from '../../support/recorded-spans.js';

const usage = (input: number, more: Partial<Usage> = {}): Usage => ({
  inputTokens: input,
  outputTokens: 1,
  totalTokens: input + 1,
  ...more,
});
const f = defineTool({ name: 'f', execute: () => 'done' });
const asks = { toolCalls: [{ name: 'f' }], usage: usage(10) };

/** Usage attributes of the spans with a name, and the usage that the caller got. */
async function turn(
  mode: Mode,
  script: Script,
  ...advisors: readonly Advisor[]
): Promise<{ turn: unknown; calls: unknown; caller: unknown }> {
  const recording = recordSpans();
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt('?')
    .tools(f)
    .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }), ...advisors);
  let caller: Usage | undefined;
  const result = async (): Promise<void> => {
    const response =
      mode === 'call'
        ? await spec.call().chatResponse()
        : await lastValueFrom(spec.stream().chatResponse());
    caller = response.usage;
  };
  const error = (await failureOf(result())) as ModelCallError | undefined;
  caller ??= error?.run?.usage;
  const inputOf = (name: string): readonly unknown[] =>
    recording.spans
      .filter((span) => span.name.startsWith(name))
      .map(({ attributes }) => attributes['gen_ai.usage.input_tokens']);
  return {
    turn: inputOf('invoke_agent'),
    calls: inputOf('chat'),
    caller: caller?.inputTokens,
  };
}

for (const mode of MODES)
  describe(`the summary that a memory starts after a turn by ${mode}`, () => {
    for (const delay of [0, 20])
      it(`[D103] has a span within the span of the turn, which has ended, after ${delay} ms`, async () => {
        const recording = recordSpans();
        const repository = new InMemoryChatMemoryRepository();
        await repository.append('c', [
          { role: 'user', content: '?' },
          { role: 'assistant', content: 'so' },
        ]);
        const model = new ScriptedChatModel([{ text: 'summary', usage: usage(1_000), delay }]);
        const chatMemory = new SummarizingChatMemory({ repository, model, maxMessages: 2 });
        const { tracer } = recording;
        const spec = ChatClient.create(new ScriptedChatModel([{ text: 'so', usage: usage(10) }]))
          .prompt('?')
          .advisors(
            new ObservabilityAdvisor({ tracer }),
            new MessageChatMemoryAdvisor({ chatMemory }),
          )
          .advisors((a) => a.param(CONVERSATION_ID, 'c'));

        const { run } = await runSpec(mode, spec);
        await run?.settled;

        const { spans } = recording;
        const chats = spans.filter(({ name }) => name.startsWith('chat '));
        const inputs = chats.map(({ attributes }) => attributes['gen_ai.usage.input_tokens']);
        expect(inputs).to.deep.equal([10, 1_000]);
        const turnSpan = spans.find(({ name }) => name.startsWith('invoke_agent'));
        expect(chats[1]?.parentSpanContext?.spanId).to.equal(turnSpan?.spanContext().spanId);
      });
  });

for (const mode of MODES) {
  describe(`usage of the span of a turn by ${mode}`, () => {
    it('[D5] equals the usage of the response: refused answers, also if the first one is returned', async () => {
      const keepFirst = defineAdvisor({
        name: 'keep-first',
        order: AdvisorOrder.GUARD,
        around: async (request, next) => {
          const first = await next(request);
          await next(request);
          return first;
        },
      });

      const spans = await turn(mode, () => ({ text: 'so', usage: usage(100) }), keepFirst);

      expect(spans).to.deep.equal({ turn: [200], calls: [100, 100], caller: 200 });
    });

    it('[D5] has failed attempts that reported usage', async () => {
      const again: Advisor = {
        name: 'again',
        order: AdvisorOrder.RESILIENCE,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      };
      const failed = new ModelCallError('no', { usage: usage(50) });

      const spans = await turn(mode, [failed, { text: 'so', usage: usage(100) }], again);

      expect(spans).to.deep.equal({ turn: [150], calls: [50, 100], caller: 150 });
    });

    it('[D5] is there for a turn that fails, and at a limit', async () => {
      const limit = new ToolCallingAdvisor({ maxIterations: 2, onLimit: 'throw' });

      const failed = await turn(mode, [asks, new Error('no')]);
      const limited = await turn(mode, () => asks, limit);

      expect(failed).to.deep.equal({ turn: [10], calls: [10, undefined], caller: 10 });
      expect(limited).to.deep.equal({ turn: [20], calls: [10, 10], caller: 20 });
    });
  });
}

describe('ObservabilityAdvisor', () => {
  it('[D30] records tokens written to the cache of the provider', async () => {
    const recording = recordSpans();
    const written = usage(9, { cacheWriteTokens: 7, cachedInputTokens: 2 });
    const model = new ScriptedChatModel([{ text: 'so', usage: written }]);

    await ChatClient.create(model)
      .prompt('?')
      .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
      .call()
      .content();

    for (const { attributes } of recording.spans.filter(({ name }) => !name.startsWith('advisor')))
      expect(attributes).to.include({
        'gen_ai.usage.cache_creation.input_tokens': 7,
        'gen_ai.usage.cache_read.input_tokens': 2,
      });
  });
});
