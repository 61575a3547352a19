import { expect } from 'chai';
import {
  ChatClient,
  CompactionAdvisor,
  defineTool,
  InvalidArgumentError,
  type Message,
  textOf,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';

const tool = (name: string, deferred = false) =>
  defineTool({ name, description: name, deferred, execute: () => name });

/** Runs a turn, and returns what the counter was asked to count. */
async function counted(tokenCounter: (message: Message) => number): Promise<readonly Message[]> {
  const asked: Message[] = [];
  const count = (message: Message): number => {
    asked.push(message);
    return tokenCounter(message);
  };
  const model = new ScriptedChatModel([
    { toolCalls: [{ name: 'first' }] },
    { toolCalls: [{ name: 'first', arguments: { n: 2 } }] },
    'Done.',
  ]);
  await ChatClient.create(model)
    .prompt('?')
    .tools(tool('first'), tool('second'), tool('hidden', true))
    .advisors(new CompactionAdvisor({ maxTokens: 1_000, tokenCounter: count }))
    .call()
    .content();
  return asked;
}

describe('TokenMeter', () => {
  it('counts each message and each offered tool of a turn once', async () => {
    const asked = await counted(() => 1);

    const names = asked.flatMap((message) =>
      message.role === 'system' ? [(JSON.parse(textOf(message)) as { name: string }).name] : [],
    );
    expect(names).to.deep.equal(['first', 'second']);
    expect(asked.map(({ role }) => role).filter((role) => role !== 'system')).to.deep.equal(
      'user assistant tool assistant tool'.split(' '),
    );
  });

  for (const tokens of [NaN, -1, '4'])
    it(`rejects a counter that returns ${tokens}`, async () => {
      const failure = await failureOf(counted(() => tokens as number));

      expect(failure).to.be.instanceOf(InvalidArgumentError);
      expect(String(failure)).to.match(/the result of tokenCounter must be a number from 0/);
    });
});
