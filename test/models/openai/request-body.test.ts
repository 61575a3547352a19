import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../../src/chat/message.js';
import { Prompt } from '../../../src/chat/prompt.js';
import { writeBody } from '../../../src/models/openai/request-body.js';
import type { Wire } from '../../../src/models/openai/wire-json.js';
import { toWireRequest, type StreamSettings } from '../../../src/models/openai/wire.js';

const messages: readonly Message[] = [
  { role: 'system', text: 'Be "brief" \u2028 😀' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Hi' },
      { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
    ],
  },
  {
    role: 'assistant',
    text: null,
    toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
    metadata: { openai: { reasoning_content: 'r' } },
  },
  { role: 'tool', toolCallId: 'a', toolName: 'f', content: 'done' },
];
const options: readonly Wire[] = [
  {},
  { model: 'm', temperature: 0, tools: [{ type: 'function' }], user: undefined },
  { stream_options: { x: 1 } },
  { messages: [] },
  { stream: false, model: 'm' },
];
const streams: readonly StreamSettings[] = [false, { usage: true }, { usage: false }];

const asObject = (list: readonly Message[], wire: Wire, stream: StreamSettings): unknown =>
  JSON.parse(JSON.stringify(toWireRequest(list, wire, stream)));

describe('writeBody', () => {
  for (const wire of options)
    for (const stream of streams)
      it(`writes what toWireRequest makes of ${JSON.stringify(wire)}, stream ${JSON.stringify(stream)}, also the second time`, () => {
        const prompt = new Prompt(messages);
        const bodies = [prompt, prompt, new Prompt([])].map((one) => writeBody(one, wire, stream));

        const [first, second, empty] = bodies.map((body) => JSON.parse(body) as unknown);
        expect(first).to.deep.equal(asObject(messages, wire, stream));
        expect(second).to.deep.equal(first);
        expect(empty).to.deep.equal(asObject([], wire, stream));
      });

  it('writes any text and any option (500 cases)', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.dictionary(fc.string(), fc.jsonValue()), (texts, wire) => {
        const list = texts.map((text): Message => ({ role: 'user', content: text }));
        const body = JSON.parse(writeBody(new Prompt(list), wire, false)) as unknown;
        expect(body).to.deep.equal(asObject(list, wire, false));
      }),
      { numRuns: 500 },
    );
  });

  it('writes a prompt that grows message by message like one that was whole at once, and its ancestors as they were (300 cases)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { maxLength: 3 }), { maxLength: 6 }), (steps) => {
        const prompts = [new Prompt([])];
        for (const texts of steps) {
          const last = prompts.at(-1) as Prompt;
          writeBody(last, {}, false);
          prompts.push(last.append(...texts.map((content): Message => ({ role: 'user', content }))));
        }

        for (const prompt of [...prompts].reverse())
          expect(JSON.parse(writeBody(prompt, {}, false))).to.deep.equal(asObject(prompt.messages, {}, false));
      }),
      { numRuns: 300 },
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
      writeBody(prompt, {}, false);
    }

    expect(read).to.equal(50);
  });
});
