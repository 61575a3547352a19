import { expect } from 'chai';
import {
  InMemoryKeyValueStore,
  textOf,
  type ChatEvent,
  type CompactionAdvisorOptions,
  type Prompt,
} from '../../../src/index.js';
import { longTurn, prefixChanges } from '../../support/compacted-turn.js';
import { MODES } from '../../support/modes.js';

const MAX = 4_000;
const resultOf = (prompt: Prompt | undefined, id: string): string => {
  const found = prompt?.messages.find(
    (message) => message.role === 'tool' && message.toolCallId === id,
  );
  return found ? textOf(found) : '';
};
const namesOf = (prompt: Prompt | undefined): readonly string[] =>
  (prompt?.options.tools ?? []).map(({ definition }) => definition.name);
const offloads = (events: readonly ChatEvent[]) =>
  events.flatMap((event) =>
    event.type === 'custom' && event.name === 'result-offloaded' ? [event.data] : [],
  );
const keeping = (over?: number): CompactionAdvisorOptions => ({
  maxTokens: MAX,
  offload: { store: new InMemoryKeyValueStore(), ...(over !== undefined && { over }) },
});

describe('CompactionAdvisor with a store for results', () => {
  for (const mode of MODES) {
    it(`${mode}: offloads a long result before the model gets it, and offers the tool that reads it`, async () => {
      const answer = (prompt: Prompt, index: number) => {
        if (index !== 2) return undefined;
        const id = /id "(\w+)"/.exec(resultOf(prompt, 'call_1'))?.[1];
        return {
          toolCalls: [
            { id: 'again', name: 'read_result', arguments: { id, offset: 9_000, length: 50 } },
          ],
        };
      };

      const { prompts, events, reports } = await longTurn(
        mode,
        [100, 20_000, 100],
        keeping(5_000),
        { answer },
      );

      expect(reports).to.deep.equal([]);
      expect(offloads(events)).to.have.length(1);
      expect(namesOf(prompts[1])).to.deep.equal(['read']);
      expect(namesOf(prompts[2])).to.deep.equal(['read', 'read_result']);
      expect(resultOf(prompts[3], 'again')).to.match(/x{50}/);
      expect(prefixChanges(prompts)).to.equal(0);
    });

    it(`${mode}: offloads what it would cut otherwise`, async () => {
      const { prompts, reports } = await longTurn(mode, [100, 18_000], keeping());

      expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['offload']]);
      expect(resultOf(prompts[2], 'call_1')).to.match(/call read_result with the id "\w+"/);
      expect(namesOf(prompts[2])).to.include('read_result');
    });
  }
});
