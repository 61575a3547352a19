import { expect } from 'chai';
import { textOf } from '../../src/core/chat/message.js';
import { z } from 'zod';
import { augmentTools, defineTool, InvalidArgumentError, ModelCallError } from '../../src/index.js';
import { factsOf, insightsOf } from '../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { asUser, memoryParts, textsIn } from '../support/vector-memory.js';

describe('factsOf', () => {
  it('rejects invalid options', () => {
    const model = new ScriptedChatModel([]);

    expect(() => factsOf({} as never)).to.throw(InvalidArgumentError, 'model');
    expect(() => factsOf({ model, maxFacts: 0 })).to.throw(InvalidArgumentError, 'maxFacts');
    expect(() => factsOf({ model, keep: ' ' })).to.throw(InvalidArgumentError, 'keep');
  });

  for (const mode of MODES) {
    it(`${mode}: stores the facts that a model lists, which gets the ones of before`, async () => {
      const facts = new ScriptedChatModel(['- The dog of Anna is called Rex.\n', ' NONE ']);
      const { memory, store } = memoryParts({ extract: factsOf({ model: facts }) });
      const model = new ScriptedChatModel(() => 'Nice.');

      await runSpec(mode, asUser('anna', 'My dog is called "Rex"}.', model, memory));
      await runSpec(mode, asUser('anna', 'My dog is old.', model, memory));

      expect(await textsIn(store, 'anna')).to.deep.equal(['The dog of Anna is called Rex.']);
      const sent = facts.prompts.map(
        ({ userMessage }) => JSON.parse(textOf(userMessage?.content ?? '')) as unknown,
      );
      expect(sent).to.deep.equal([
        { known: [], question: 'My dog is called "Rex"}.', answer: 'Nice.' },
        { known: ['The dog of Anna is called Rex.'], question: 'My dog is old.', answer: 'Nice.' },
      ]);
    });
  }

  const listOf = async (text: string, maxFacts = 3): Promise<unknown> => {
    const extract = factsOf({ model: new ScriptedChatModel([text]), maxFacts });
    const { memory, store } = memoryParts({ extract });
    await runSpec('call', asUser('anna', 'Hi', new ScriptedChatModel(['Yes.']), memory));
    return textsIn(store, 'anna');
  };

  it('takes lines of a list alone, and at most maxFacts', async () => {
    expect(await listOf('Here they are:\n- a\n* b\n\n  - c  \nd')).to.deep.equal(['a', 'b', 'c']);
    expect(await listOf('- a\n'.repeat(100_000), 2)).to.deep.equal(['a', 'a']);
  });

  it('fails for an answer that is no list', async () => {
    for (const text of ['', 'a', 'NONE of it'])
      expect(await failureOf(listOf(text)))
        .to.have.property('cause')
        .that.is.instanceOf(ModelCallError);
  });
});

describe('insightsOf', () => {
  it('rejects a blank name', () => {
    expect(() => insightsOf(' ')).to.throw(InvalidArgumentError, 'argument');
  });

  for (const mode of MODES)
    it(`${mode}: stores the notes that augmentTools has asked for, each once`, async () => {
      const received: unknown[] = [];
      const add = defineTool({
        name: 'add',
        input: z.object({ a: z.number() }),
        execute: ({ a }) => {
          if (a === 3) throw new Error('three');
          return a + 1;
        },
      });
      const noted = augmentTools([add], z.object({ note: z.string() }), (call) =>
        received.push(call.arguments),
      );
      const { memory, store } = memoryParts({ extract: insightsOf('note') });
      const callOf = (note: unknown, a = 1) => ({ name: 'add', arguments: { a, note } });
      const model = new ScriptedChatModel([
        { toolCalls: [callOf('Likes sums.'), callOf('Is in a hurry.')] },
        { toolCalls: [callOf('Likes sums.', 2), callOf(7), callOf('A failure.', 3)] },
        'Done.',
      ]);

      await runSpec(mode, asUser('anna', 'Add.', model, memory).tools(...noted));

      expect(received).to.have.length(4);
      expect(await textsIn(store, 'anna')).to.deep.equal(['Is in a hurry.', 'Likes sums.']);
      expect((await store.list('anna'))[0]?.metadata).to.include({ type: 'insight' });
    });
});
