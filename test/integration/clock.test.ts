import { expect } from 'chai';
import { randomId } from '../../src/core/chat/context.js';
import { ChatClient, defineTool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { MODES, runSpec } from '../support/modes.js';

const { now } = Date;
const { random } = Math;

describe('a clock that goes backwards, and a random source that repeats', () => {
  beforeEach(() => {
    let time = now();
    Date.now = () => (time -= 1_000);
    Math.random = () => 0.5;
  });

  afterEach(() => {
    Date.now = now;
    Math.random = random;
  });

  it('[F105] leave ids different', () => {
    const ids = Array.from({ length: 1_000 }, randomId);

    expect(new Set(ids).size).to.equal(1_000);
  });

  for (const mode of MODES)
    it(`[F105] leave a turn its order, its keys and no negative durations (${mode})`, async () => {
      const keys: string[] = [];
      const calls = [1, 2].map((at) => ({ toolCalls: [{ name: 'tool', arguments: { at } }] }));
      const tool = defineTool({
        name: 'tool',
        execute: (_args, { idempotencyKey }) => keys.push(idempotencyKey),
      });
      const client = ChatClient.create(new ScriptedChatModel([...calls, 'Done.']));

      const { run, text } = await runSpec(mode, client.prompt('Go.').tools(tool));

      expect(text).to.equal('Done.');
      expect(new Set(keys).size).to.equal(2);
      expect(run?.toolCalls.map(({ duration }) => duration)).to.deep.equal([0, 0]);
    });
});
