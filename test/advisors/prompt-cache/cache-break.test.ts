import { expect } from 'chai';
import { ChatClientRequest, defineTool, Prompt, type Message } from '../../../src/index.js';
import { findBreak } from '../../../advisors/prompt-cache/cache-break.js';
import { SentPrefix } from '../../../advisors/prompt-cache/sent-prefix.js';

interface Request {
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly system?: readonly string[];
  readonly messages?: readonly string[];
}

const sent = ({ model, tools = [], system = [], messages = [] }: Request): SentPrefix => {
  const all: Message[] = [
    ...system.map((text): Message => ({ role: 'system', content: text })),
    ...messages.map((content): Message => ({ role: 'user', content })),
  ];
  const prompt = new Prompt(all, model === undefined ? {} : { model });
  const offered = tools.map((name) =>
    defineTool({ name, description: 'Does something.', execute: () => name }),
  );
  return new SentPrefix(new ChatClientRequest({ prompt, mode: 'call', tools: offered }), undefined);
};
const shown = (before: Request, now: Request): unknown => {
  const found = findBreak(sent(before), sent(now), []);
  return found && [found.part, found.index, found.name, found.change];
};

describe('findBreak', () => {
  const base: Request = { model: 'm', tools: ['f', 'g'], system: ['s'], messages: ['a', 'b'] };
  const CASES: readonly (readonly [string, Request, unknown])[] = [
    ['the same again', {}, undefined],
    ['more messages', { messages: ['a', 'b', 'c'] }, undefined],
    ['fewer messages at the end', { messages: ['a'] }, undefined],
    ['another model', { model: 'n' }, ['model', 0, 'n', 'replaced']],
    ['a tool at the end', { tools: ['f', 'g', 'h'] }, ['tools', 2, 'h', 'added']],
    ['a tool before others', { tools: ['e', 'f', 'g'] }, ['tools', 0, 'e', 'added']],
    ['a tool less', { tools: ['f'] }, ['tools', 1, 'g', 'removed']],
    ['the first tool less', { tools: ['g'] }, ['tools', 0, 'f', 'removed']],
    ['no tools', { tools: [] }, ['tools', 0, 'f', 'removed']],
    ['another order of tools', { tools: ['g', 'f'] }, ['tools', 0, 'g', 'order']],
    ['another tool', { tools: ['f', 'h'] }, ['tools', 1, 'h', 'replaced']],
    ['another system text', { system: ['t'] }, ['system', 0, 'system', 'text']],
    ['a system text more', { system: ['s', 't'] }, ['system', 1, 'system', 'added']],
    ['no system text', { system: [] }, ['system', 0, 'system', 'removed']],
    ['another message', { messages: ['a', 'c'] }, ['messages', 1, 'user', 'content']],
    ['a message less', { messages: ['b'] }, ['messages', 0, 'user', 'removed']],
    ['a message between', { messages: ['a', 'x', 'b'] }, ['messages', 1, 'user', 'added']],
    ['tools before messages', { tools: [], messages: [] }, ['tools', 0, 'f', 'removed']],
  ];
  for (const [name, change, expected] of CASES)
    it(`compares with ${name}`, () => {
      expect(shown(base, { ...base, ...change })).to.deep.equal(expected);
    });

  it('counts what has to be read again, not what is not sent again', () => {
    const [long, short] = ['x'.repeat(4_000), 'y'.repeat(40)];
    const lost = (before: Request, now: Request) =>
      findBreak(sent(before), sent(now), [])?.lostTokens;

    expect(lost({ system: ['a'], messages: [long] }, { system: ['b'], messages: [long] })).to.equal(1_001); // prettier-ignore
    expect(lost({ messages: ['a', long, short] }, { messages: ['a', short] })).to.equal(10);
  });
});
