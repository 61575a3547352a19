import { expect } from 'chai';
import fc from 'fast-check';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  InvalidArgumentError,
  ReasoningExtractor,
  StructuredOutputAdvisor,
  type ChatEvent,
  type ReasoningExtractorOptions,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedParts } from '../../src/testing/index.js';
import { MODES, runSpec, type Mode } from '../support/modes.js';
import { recorder } from '../support/turn.js';

interface Seen {
  readonly text: string | null;
  readonly reasoning: string | undefined;
  readonly events: readonly ChatEvent[];
}

async function extract(
  mode: Mode,
  answer: ScriptedParts,
  options: ReasoningExtractorOptions = {},
): Promise<Seen> {
  const events: ChatEvent[] = [];
  const client = ChatClient.create(new ScriptedChatModel([answer]));
  const { text, message } = await runSpec(
    mode,
    client.prompt('?').advisors(recorder(events), new ReasoningExtractor(options)),
  );
  return { text, reasoning: message.reasoning, events };
}

/** The texts of the deltas that were not retracted. */
function streamed(events: readonly ChatEvent[]): readonly [text: string, reasoning: string] {
  const kept = events.slice(events.findLastIndex(({ type }) => type === 'retract') + 1);
  const join = (wanted: ChatEvent['type']): string =>
    kept.map((event) => (event.type === wanted && 'text' in event ? event.text : '')).join('');
  return [join('text-delta'), join('reasoning-delta')];
}

const THINK = ['<think>', '</think>'] as const;
const noop = defineTool({ name: 'noop', execute: () => 'ok' });

/** Text of the model, options, finish reason; text and reasoning. */
const CASES: Readonly<
  Record<string, readonly [string, ReasoningExtractorOptions, string, string | null, string?]>
> = {
  'a block before the answer': ['<think>\nHm.\n</think>\n\nYes.', {}, 'stop', 'Yes.', 'Hm.'],
  'white space before it': ['\n <think>Hm.</think>Yes.', {}, 'stop', 'Yes.', 'Hm.'],
  'an empty block': ['<think>\n\n</think>\n\nYes.', {}, 'stop', 'Yes.'],
  'several blocks': ['<think>a</think>b <think>c</think>d', {}, 'stop', 'b d', 'a\n\nc'],
  'a block alone': ['<think>Hm.</think>', {}, 'stop', null, 'Hm.'],
  'no block': ['  1 < 2 </b> <thin', {}, 'stop', '  1 < 2 </b> <thin'],
  'white space alone': [' \n', {}, 'stop', ' \n'],
  'an end without a start': ['Yes.</think> No.', {}, 'stop', 'Yes.</think> No.'],
  'a block that was cut off': ['<think>Hm, so', {}, 'length', null, 'Hm, so'],
  'a block that begins the answer and has no end': ['<think>Hm', {}, 'stop', null, 'Hm'],
  'an answer about the tag': ['Use <think> for thoughts.', {}, 'stop', 'Use <think> for thoughts.'],
  'a later block that was cut off': ['Yes. <think>Hm', {}, 'MAX_TOKENS', 'Yes. ', 'Hm'],
  'a start in the chat template': [
    'Hm.\n</think>\n\nYes.',
    { startsInside: true },
    'stop',
    'Yes.',
    'Hm.',
  ],
  'a start in the chat template and in the answer': [
    '\n<think>Hm.</think>Yes.',
    { startsInside: true },
    'stop',
    'Yes.',
    'Hm.',
  ],
  '[D104] a start in the chat template and within the thoughts': [
    'Okay, <think>Hm.</think>Yes.',
    { startsInside: true },
    'stop',
    'Yes.',
    'Okay, Hm.',
  ],
  'no thoughts in spite of the chat template': [' Yes.', { startsInside: true }, 'stop', ' Yes.'],
  'thoughts that the chat template began and that were cut off': [
    'Hm',
    { startsInside: true },
    'length',
    null,
    'Hm',
  ],
  'delimiters of other models (d6b42fd)': [
    '[THINK]a[/THINK]b◁think▷c◁/think▷<think>',
    {
      delimiters: [
        ['[THINK]', '[/THINK]'],
        ['◁think▷', '◁/think▷'],
      ],
    },
    'stop',
    'b<think>',
    'a\n\nc',
  ],
};

describe('ReasoningExtractor', () => {
  for (const [options, message] of [
    [{ delimiters: [] }, 'delimiters must be a list of at least one [start, end]'],
    [{ delimiters: [['<a>', '']] }, 'delimiters must be a list of at least one [start, end]'],
    [{ startsInside: 1 }, 'startsInside must be true or false, not 1'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new ReasoningExtractor(options as never)).to.throw(
        InvalidArgumentError,
        `ReasoningExtractor: ${message}`,
      );
    });

  for (const [name, [answer, options, finishReason, text, reasoning]] of Object.entries(CASES)) {
    it(`call: reads ${name}`, async () => {
      const seen = await extract('call', { text: answer, finishReason }, options);

      expect([seen.text, seen.reasoning]).to.deep.equal([text, reasoning]);
    });

    for (const size of [1, 2, 3, 5, 8, 100])
      it(`stream: reads ${name} in pieces of ${size}`, async () => {
        const deltas = answer.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

        const seen = await extract('stream', { text: answer, finishReason, deltas }, options);

        expect([seen.text, seen.reasoning]).to.deep.equal([text, reasoning]);
        expect(streamed(seen.events)).to.deep.equal([text ?? '', reasoning ?? '']);
      });
  }

  it('[D104] gives the same for any pieces, and loses no character if there are no tags', async () => {
    const part = fc.constantFrom(...THINK, '<', 'think>', '</', ' ', '\n', 'a', 'b ', '<th');
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 12 }),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        async (parts, startsInside, cutOff, size) => {
          const text = parts.join('');
          const deltas = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
          const answer = { text, deltas, finishReason: cutOff ? 'length' : 'stop' };

          const call = await extract('call', answer, { startsInside });
          const stream = await extract('stream', answer, { startsInside });

          expect([stream.text, stream.reasoning]).to.deep.equal([call.text, call.reasoning]);
          expect(streamed(stream.events)).to.deep.equal([call.text ?? '', call.reasoning ?? '']);
          const hasTag = startsInside || text.includes('<think>');
          if (!hasTag) expect(call.text).to.equal(text);
        },
      ),
      { numRuns: 150 },
    );
  });

  for (const mode of MODES) {
    it(`${mode}: keeps the reasoning that the provider reports`, async () => {
      const seen = await extract(mode, { text: '<think>b</think>Yes.', reasoning: 'a' });

      expect([seen.text, seen.reasoning]).to.deep.equal(['Yes.', 'a\n\nb']);
    });

    it(`${mode}: keeps tags out of the history of a turn`, async () => {
      const model = new ScriptedChatModel([
        { text: '<think>I need it.</think>', toolCalls: [{ name: 'noop' }] },
        '<think>Got it.</think>Yes.',
      ]);
      const spec = ChatClient.create(model).prompt('?').tools(noop);

      const { message, steps } = await runSpec(mode, spec.advisors(new ReasoningExtractor()));

      expect(message).to.include({ content: 'Yes.', reasoning: 'Got it.' });
      expect(steps[0]?.response.message).to.include({ content: null, reasoning: 'I need it.' });
      expect(JSON.stringify(model.prompts)).not.to.include('think>');
    });

    it(`${mode}: answers without tags left of the loop, too`, async () => {
      const events: ChatEvent[] = [];
      const model = new ScriptedChatModel([
        { text: '<think>I need it.</think>Wait.', toolCalls: [{ name: 'noop' }] },
        '<think>Got it.</think>Yes.',
      ]);
      const left = new ReasoningExtractor({ order: AdvisorOrder.GUARD });
      const spec = ChatClient.create(model).prompt('?').tools(noop);

      const { message } = await runSpec(mode, spec.advisors(recorder(events), left));

      expect(message).to.include({ content: 'Yes.', reasoning: 'Got it.' });
      const texts = events.map((event) => (event.type === 'text-delta' ? event.text : ''));
      expect(texts.join('')).to.equal(mode === 'call' ? '' : 'Wait.Yes.');
    });

    it(`${mode}: lets an answer be parsed and asked for again`, async () => {
      const model = new ScriptedChatModel(['<think>{}</think>no', '<think>{}</think>{"a":1}']);
      const spec = ChatClient.create(model)
        .prompt('?')
        .advisors(new StructuredOutputAdvisor(), new ReasoningExtractor());
      const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };

      const value = await (mode === 'call' ? spec.call() : spec.stream()).entity(schema);

      expect(value).to.deep.equal({ a: 1 });
      expect(model.prompts).to.have.lengthOf(2);
    });
  }
});
