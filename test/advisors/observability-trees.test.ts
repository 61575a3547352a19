import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { run, SCENES } from './observed-turns.js';
import { treeOf } from '../observability/spans.js';
import { MODES } from './turn.js';

/** Of a stream alone. */
const STREAMING = ['gen_ai.request.stream', 'gen_ai.response.time_to_first_chunk', 'advisor_chain.response.chunks'];
/** Different in every turn. */
const OWN = ['advisor_chain.turn.id', 'advisor_chain.advisor.exclusive_time'];

function attributesOf(span: ReadableSpan, without: readonly string[] = [...STREAMING, ...OWN]): string {
  const shown = Object.entries(span.attributes).filter(([name]) => !without.includes(name));
  return ` ${JSON.stringify(Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1))))} ${span.events.map(({ name }) => name).join()}`;
}

describe('ObservabilityAdvisor', () => {
  for (const scene of SCENES)
    describe(`of ${scene.name}`, () => {
      for (const mode of MODES)
        it(`records this tree, in a ${mode}`, async () => {
          const recording = await run(mode, scene);

          expect(treeOf(recording.spans)).to.equal(scene.tree.trim());
          expect(recording.problems).to.deep.equal([]);
        });

      it('records the same in call and stream, but for what only a stream has [law 7]', async () => {
        const [call, stream] = await Promise.all(MODES.map((mode) => run(mode, scene, { captureContent: true })));

        expect(treeOf(stream?.spans ?? [], attributesOf)).to.equal(treeOf(call?.spans ?? [], attributesOf));
      });
    });
});
