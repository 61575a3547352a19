import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../../src/core/chat/message.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { toRequestBody, toRequestText } from '../../../src/models/openai/request.js';
import { sweep } from '../../support/sweep.js';

const messages: readonly Message[] = [
  { role: 'system', content: 'Be "brief" \u2028 😀' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Hi' },
      { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
    ],
  },
  {
    role: 'assistant',
    content: null,
    toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
    metadata: { openai: { reasoning_content: 'r' } },
  },
  { role: 'tool', toolCallId: 'a', toolName: 'f', content: 'done' },
];
const options: readonly JsonObject[] = [
  {},
  { model: 'm', temperature: 0, tools: [{ type: 'function' }], user: undefined },
  { stream_options: { x: 1 } },
  { messages: [] },
  { stream: false, model: 'm' },
];

const asObject = (list: readonly Message[], wire: JsonObject): unknown =>
  JSON.parse(JSON.stringify(toRequestBody(list, wire)));

describe('toRequestText', () => {
  for (const wire of options)
    it(`equals toRequestBody for ${JSON.stringify(wire)}, also the second time`, () => {
      const prompt = new Prompt(messages);
      const bodies = [prompt, prompt, new Prompt([])].map((one) => toRequestText(one, wire));

      const [first, second, empty] = bodies.map((body) => JSON.parse(body) as unknown);
      expect(first).to.deep.equal(asObject(messages, wire));
      expect(second).to.deep.equal(first);
      expect(empty).to.deep.equal(asObject([], wire));
    });

  it('writes any text and any option (60 cases)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' })),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (texts, wire) => {
          const list = texts.map((text): Message => ({ role: 'user', content: text }));
          const body = JSON.parse(toRequestText(new Prompt(list), wire)) as unknown;
          expect(body).to.deep.equal(asObject(list, wire));
        },
      ),
      { numRuns: sweep(1_200) },
    );
  });

  it('writes a growing prompt like one with all messages at once, and its ancestors unchanged (100 cases)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { maxLength: 3 }), { maxLength: 6 }), (steps) => {
        const prompts = [new Prompt([])];
        for (const texts of steps) {
          const last = prompts.at(-1) as Prompt;
          toRequestText(last, {});
          prompts.push(
            last.append(...texts.map((content): Message => ({ role: 'user', content }))),
          );
        }

        for (const prompt of [...prompts].reverse())
          expect(JSON.parse(toRequestText(prompt, {}))).to.deep.equal(
            asObject(prompt.messages, {}),
          );
      }),
      { numRuns: sweep(2_000) },
    );
  });

  it('writes each message once along a growing prompt', () => {
    let read = 0;
    const counted = (): Message => ({
      role: 'user',
      get content() {
        read++;
        return 'x';
      },
    });
    let prompt = new Prompt([]);
    for (let n = 0; n < 50; n++) {
      prompt = prompt.append(counted());
      toRequestText(prompt, {});
    }

    expect(read).to.equal(50);
  });
});
