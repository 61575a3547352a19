import { expect } from 'chai';
import { Inspector } from '../../src/bridges/inspector/index.js';
import type { InspectedTurn } from '../../src/bridges/inspector/index.js';
import { describeTimeline } from '../../src/cli/chat/describe-timeline.js';
import { ChatClient, defineTool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

describe('describeTimeline', () => {
  it('is a tree of the parts of a turn, in their order', async () => {
    const inspector = new Inspector({ allowInProduction: true });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'now' }] }, 'It is noon.']);
    const now = defineTool({
      name: 'now',
      description: 'Returns the time.',
      input: { type: 'object' },
      execute: () => 'noon',
    });
    const client = ChatClient.builder(model).defaultTools(now).defaultAdvisors(inspector).build();
    await client.prompt('What time is it?').call().content();
    const turn = inspector.turn(inspector.turns()[0]?.id ?? '') as InspectedTurn;

    const lines = describeTimeline(turn).split('\n');

    expect(lines[0]).to.match(/^turn answered, [\d.]+ ms$/);
    expect(lines.slice(1).map((line) => line.replace(/ {2,}[\d.]+ ms.*/, ''))).to.deep.equal([
      'advisor tool-calling',
      '  model-call scripted',
      '  tool-call now',
      '  model-call scripted',
    ]);
  });
});
