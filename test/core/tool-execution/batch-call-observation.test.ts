import { expect } from 'chai';
import { Cancellation } from '../../../src/core/internal/cancellation.js';
import { defineTool, type Tool, type ToolMetadata } from '../../../src/index.js';
import { cancellableRun } from '../../../src/core/tool-execution/tool-run.js';
import { rejection, runBatch, type CallInput } from '../../support/batch.js';
import { RecordedObservation } from '../../support/recorded-observation.js';

const works = defineTool({
  name: 'works',
  input: { type: 'object', properties: { city: { type: 'string' } } },
  execute: () => 'ok',
});
const fails = defineTool({ name: 'fails', execute: () => Promise.reject(new Error('down')) });

describe('the observation of a tool call', () => {
  it('begins with the call, its tool and its iteration, and ends with its result', async () => {
    const observation = new RecordedObservation();

    const { results } = await runBatch([works], ['works'], { run: { observation, iteration: 3 } });

    const { call, result } = results[0] ?? {};
    expect(observation.parts).to.deep.equal([
      { type: 'tool-call', call, tool: works, iteration: 3 },
    ]);
    expect(observation.endings).to.deep.equal([
      { type: 'tool-result', result, outcome: 'success', isReplayed: false },
    ]);
    expect(observation.notes).to.deep.equal([]);
  });

  const outcomes: readonly (readonly [outcome: string, call: CallInput, refuse?: string])[] = [
    ['success', 'works'],
    ['error', 'fails'],
    ['unknown_tool', 'other'],
    ['invalid_arguments', { name: 'works', args: { city: 1 } }],
    ['refused', 'works', 'Not now.'],
  ];
  for (const [outcome, call, refuse] of outcomes) {
    it(`ends with the outcome ${outcome}`, async () => {
      const observation = new RecordedObservation();

      await runBatch([works, fails], [call], { run: { observation, refuse } });

      expect(observation.endings).to.have.length(1);
      expect(observation.endings[0]).to.include({ outcome });
    });
  }

  it('ends with the outcome cancelled for a call that did not end', async () => {
    const observation = new RecordedObservation();
    const cancellation = new Cancellation();
    const cancels = defineTool({
      name: 'cancels',
      execute: () => {
        queueMicrotask(() => cancellation.cancel());
        return new Promise(() => undefined);
      },
    });
    const run = cancellableRun(cancellation, { tools: [cancels], observation });

    await runBatch([], ['cancels'], { run });

    expect(
      observation.endings.map((ending) => 'outcome' in ending && ending.outcome),
    ).to.deep.equal(['cancelled']);
  });

  const noteOf = async (metadata: ToolMetadata, execute: () => unknown): Promise<unknown> => {
    const observation = new RecordedObservation();
    const tool = defineTool({ name: 'tool', execute });
    const given: Tool = { ...tool, metadata: { ...tool.metadata, ...metadata } };
    const { results } = await runBatch([given], ['tool'], { run: { observation } });
    return { notes: observation.notes, error: results[0]?.result.error };
  };

  it('notes the error of an attempt that is repeated', async () => {
    const errors = [new Error('down'), new Error('still down')];
    const failing = errors.values();

    const noted = await noteOf({ effect: 'read', retries: 1 }, () =>
      Promise.reject(failing.next().value as Error),
    );

    expect(noted).to.deep.equal({ notes: [{ type: 'retry', error: errors[0] }], error: errors[1] });
  });

  it('notes the error of an attempt that lasts too long', async () => {
    const { notes, error } = (await noteOf({ timeout: 5 }, () => new Promise(() => undefined))) as {
      readonly notes: unknown;
      readonly error: unknown;
    };

    expect(error).to.be.instanceOf(Error);
    expect(notes).to.deep.equal([{ type: 'timeout', error }]);
  });

  it('notes a limit of the batch, with the first call that reached it', async () => {
    const observation = new RecordedObservation();

    await rejection(
      runBatch([works], ['works', 'works', 'works'], { maxCallsPerTool: 1, run: { observation } }),
    );

    expect(observation.notes).to.deep.equal([{ type: 'limit', limit: 'calls-per-tool', max: 1 }]);
  });
});
