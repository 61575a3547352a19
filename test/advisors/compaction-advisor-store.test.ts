import { expect } from 'chai';
import {
  InMemoryKeyValueStore,
  textOf,
  type ChatEvent,
  type CompactionAdvisorOptions,
  type Prompt,
} from '../../src/index.js';
import { brokenPair, longTurn, prefixChanges, tokensOf } from '../support/compacted-turn.js';
import { MODES } from '../support/modes.js';

const MAX = 4_000;
const resultOf = (prompt: Prompt | undefined, id: string): string => {
  const found = prompt?.messages.find(
    (message) => message.role === 'tool' && message.toolCallId === id,
  );
  return found && 'content' in found ? textOf(found.content) : '';
};
const namesOf = (prompt: Prompt | undefined): readonly string[] =>
  (prompt?.options.tools ?? []).map(({ definition }) => definition.name);
const offloads = (events: readonly ChatEvent[]) =>
  events.flatMap((event) =>
    event.type === 'custom' && event.name === 'result-offloaded' ? [event.data] : [],
  );
const keeping = (
  over?: number,
  options: Partial<CompactionAdvisorOptions> = {},
): CompactionAdvisorOptions => ({
  maxTokens: MAX,
  offload: { store: new InMemoryKeyValueStore(), ...(over !== undefined && { over }) },
  ...options,
});

describe('CompactionAdvisor with a store for results', () => {
  for (const mode of MODES) {
    it(`${mode}: offloads a long result before the model gets it, and offers the tool that reads it`, async () => {
      const answer = (prompt: Prompt, index: number) => {
        if (index !== 2) return undefined;
        const id = /id "([0-9a-f]+)"/.exec(resultOf(prompt, 'call_1'))?.[1];
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

    it(`${mode}: offloads results of kept iterations when clearing is not enough`, async () => {
      const { prompts, reports, response } = await longTurn(
        mode,
        [400, 5_500, 5_500, 5_500, 100, 100],
        keeping(undefined, { keepIterations: 4 }),
      );

      expect(response?.text).to.equal('Done.');
      expect(reports.flatMap(({ rungs }) => rungs)).to.include('offload');
      expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX);
      expect(namesOf(prompts.at(-1))).to.include('read_result');
    });

    it(`${mode}: offloads what it would cut`, async () => {
      const { prompts, reports } = await longTurn(mode, [100, 18_000], keeping());

      expect(reports.map(({ rungs }) => rungs)).to.deep.equal([['offload']]);
      expect(resultOf(prompts[2], 'call_1')).to.match(/call read_result with the id "[0-9a-f]+"/);
      expect(namesOf(prompts[2])).to.include('read_result');
    });

    it(`${mode}: leaves the way to an offloaded result in sight when it clears it (QwenPaw#5925: destroyed)`, async () => {
      const sizes = [6_000, ...Array.from({ length: 40 }, () => 300)];

      const { prompts, reports } = await longTurn(mode, sizes, keeping(5_000));

      expect(reports[0]?.rungs).to.include('clear');
      const cleared = prompts
        .map((prompt) => resultOf(prompt, 'call_0'))
        .filter((text) => text.startsWith('[This result'));
      expect(cleared.length).to.be.greaterThan(0);
      for (const text of cleared) expect(text).to.match(/read_result with the id "[0-9a-f]+"/);
      expect(brokenPair(prompts)).to.equal(undefined);
    });

    it(`${mode}: goes on if the store fails, and reports it`, async () => {
      const failure = new Error('the store is down');
      const store = Object.assign(new InMemoryKeyValueStore(), {
        set: () => Promise.reject(failure),
      });

      const { prompts, reports, response } = await longTurn(mode, [100, 18_000], {
        maxTokens: MAX,
        offload: { store },
      });

      expect(response?.text).to.equal('Done.');
      expect(reports[0]?.failures).to.deep.equal([{ rung: 'offload', error: failure }]);
      expect(reports[0]?.rungs).to.deep.equal(['cut']);
      expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX);
    });
  }
});
