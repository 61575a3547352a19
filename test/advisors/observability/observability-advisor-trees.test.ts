import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { run, SCENES } from '../../support/traced-turns.js';
import { treeOf } from '../../support/recorded-spans.js';
import { MODES } from '../../support/modes.js';

/** Attributes of streams only. */
const STREAMING = [
  'gen_ai.request.stream',
  'gen_ai.response.time_to_first_chunk',
  'advisor_chain.response.chunks',
];
/** Attributes that differ in every turn. */
const OWN = ['advisor_chain.turn.id', 'advisor_chain.advisor.exclusive_time'];

function attributesOf(
  span: ReadableSpan,
  without: readonly string[] = [...STREAMING, ...OWN],
): string {
  const shown = Object.entries(span.attributes).filter(([name]) => !without.includes(name));
  return ` ${JSON.stringify(Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1))))} ${span.events.map(({ name }) => name).join()}`;
}

describe('ObservabilityAdvisor', () => {
  for (const scene of SCENES)
    describe(`tree of ${scene.name}`, () => {
      for (const mode of MODES)
        it(`is complete, in a ${mode}`, async () => {
          const recording = await run(mode, scene);

          expect(treeOf(recording.spans)).to.equal(scene.tree.trim());
          expect(recording.problems).to.deep.equal([]);
          const turn = recording.spans.find(({ name }) => name === 'invoke_agent');
          // a model beside the chain makes no iteration
          const iterations = new Set(
            recording.spans.map(({ attributes }) => attributes['advisor_chain.iteration'] ?? 0),
          );
          expect(turn?.attributes['advisor_chain.turn.iterations']).to.equal(iterations.size);
          expect(turn?.events.map(({ name }) => name)).not.to.include('advisor_chain.fallback');
        });

      it('is the same for call and stream, except for attributes of streams [law 7]', async () => {
        const [call, stream] = await Promise.all(
          MODES.map((mode) => run(mode, scene, { captureContent: true })),
        );

        expect(treeOf(stream?.spans ?? [], attributesOf)).to.equal(
          treeOf(call?.spans ?? [], attributesOf),
        );
      });
    });
});
