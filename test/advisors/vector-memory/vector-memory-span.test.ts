import { expect } from 'chai';
import { ObservabilityAdvisor } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { recordSpans } from '../../support/recorded-spans.js';
import { asUser, memoryParts } from '../../support/vector-memory.js';

describe('ObservabilityAdvisor and a vector memory', () => {
  for (const mode of MODES)
    it(`${mode}: has one span for the search of a turn`, async () => {
      const recording = recordSpans();
      const observability = new ObservabilityAdvisor({ tracer: recording.tracer });
      const { memory } = memoryParts();
      const model = new ScriptedChatModel(() => 'Yes.');

      await runSpec(mode, asUser('anna', 'Hi', model, memory, observability));

      const searches = recording.spans.filter(({ name }) => name.startsWith('retrieval'));
      expect(recording.problems).to.deep.equal([]);
      expect(searches.map(({ name }) => name)).to.deep.equal(['retrieval vector-memory']);
    });
});
