import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClientRequest,
  defineTool,
  Prompt,
  type ChatOptions,
  type Message,
  type Tool,
} from '../../../src/index.js';
import { digestOfMessage, isSameDigest } from '../../../advisors/prompt-cache/digest.js';
import { firstDifference, prefixOf, type Prefix } from '../../../advisors/prompt-cache/prefix.js';
import { sweep } from '../../support/sweep.js';

const user = (content: Extract<Message, { role: 'user' }>['content']): Message => ({
  role: 'user',
  content,
});
const tool = (name: string, more: object = {}): Tool =>
  defineTool({ name, description: `${name}s`, execute: () => name, ...more });
const prefix = (
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  options: ChatOptions = {},
): Prefix =>
  prefixOf(new ChatClientRequest({ prompt: new Prompt(messages, options), mode: 'call', tools }));
const namesIn = ({ items, length }: Prefix['tools']): readonly string[] =>
  items.slice(0, length).map(({ name }) => name);

describe('prefixOf', () => {
  it('has tools, then the system texts at the start, then the conversation', () => {
    const system = (text: string): Message => ({ role: 'system', content: text });
    const found = prefix([system('a'), system('b'), user('c'), system('d')], [tool('f')]);

    expect([found.tools, found.system, found.messages].map(namesIn)).to.deep.equal([
      ['f'],
      ['system', 'system'],
      ['user', 'system'],
    ]);
  });

  it('leaves tools out that the provider hides, and has those that it runs', () => {
    const hidden = tool('g');
    const deferred = { ...hidden, definition: { ...hidden.definition, deferLoading: true } };
    const providerTools = [{ type: 'web_search' }];

    const found = prefix([user('?')], [tool('f'), deferred], { providerTools });

    expect(namesIn(found.tools)).to.deep.equal(['f', 'web_search']);
  });

  it('estimates 4 characters for a token', () => {
    expect(prefix([user('a'.repeat(400)), user('b'.repeat(40))]).tokens).to.equal(110);
  });

  it('is the same for a prompt that has grown and for one of the same messages', () => {
    const step = fc.record({ from: fc.nat(), count: fc.nat(3) });
    const property = fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
      const prompts = [new Prompt([user('start')])];
      for (const [at, { from, count }] of steps.entries()) {
        const parent = prompts[from % prompts.length] as Prompt;
        const added = Array.from({ length: count }, (_, n) => user(`${at}.${n}`));
        const grown = parent.append(...added);
        prompts.push(grown);
        const request = new ChatClientRequest({ prompt: grown, mode: 'call' });
        const [found, fresh] = [prefixOf(request), prefix(grown.messages)];

        expect(firstDifference(found.messages, fresh.messages)).to.equal(undefined);
        expect(found.tokens).to.equal(fresh.tokens);
      }
    });

    fc.assert(property, { numRuns: sweep(500) });
  });

  it('does not change when its prompt grows', () => {
    const prompt = new Prompt([user('a')]);
    const request = (grown: Prompt) => new ChatClientRequest({ prompt: grown, mode: 'call' });
    const before = prefixOf(request(prompt));

    const after = prefixOf(request(prompt.append(user('b'))));

    expect([before.messages.length, after.messages.length]).to.deep.equal([1, 2]);
    expect(firstDifference(before.messages, after.messages)).to.equal(1);
  });
});

describe('a digest', () => {
  const image = (data: string | Uint8Array): Message =>
    user([
      { type: 'text', text: 'see' },
      { type: 'image', data, mediaType: 'image/png' },
    ]);
  const call = (text: string): Message => ({
    role: 'assistant',
    content: null,
    toolCalls: [{ id: '1', name: 'f', arguments: text }],
  });
  const SAME: readonly (readonly [string, Message, Message])[] = [
    ['text', user('a'), user('a')],
    ['text with metadata', user('a'), { ...user('a'), metadata: { stored: 1 } }],
    ['media', image('AAAA'), image('AAAA')],
    ['bytes', image(Uint8Array.of(1, 2)), image(Uint8Array.of(1, 2))],
    ['calls', call('{}'), call('{}')],
  ];
  const OTHER: readonly (readonly [string, Message, Message])[] = [
    ['text', user('a'), user('b')],
    ['role', user('a'), { role: 'system', content: 'a' }],
    ['media', image('AAAA'), image('BBBB')],
    ['size of media', image('A'.repeat(100)), image('A'.repeat(101))],
    ['bytes', image(Uint8Array.of(1, 2)), image(Uint8Array.of(1, 3))],
    ['arguments', call('{}'), call('{ }')],
    ['raw parts', user([{ type: 'raw', value: 1 }]), user([{ type: 'raw', value: 2 }])],
    ['id of a result', result('1'), result('2')],
    ['reasoning', { ...call('{}'), reasoning: 'a' } as Message, call('{}')],
  ];
  for (const [name, a, b] of SAME)
    it(`is equal for equal messages: ${name}`, () => {
      expect(isSameDigest(digestOfMessage(a), digestOfMessage(b))).to.equal(true);
    });
  for (const [name, a, b] of OTHER)
    it(`differs by ${name}`, () => {
      expect(isSameDigest(digestOfMessage(a), digestOfMessage(b))).to.equal(false);
    });

  function result(toolCallId: string): Message {
    return { role: 'tool', toolCallId, toolName: 'f', content: 'a' };
  }
});
