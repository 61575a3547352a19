import { expect } from 'chai';
import type { TurnOutcome } from '../support/kill-laws.js';
import { KillSetting } from '../support/kill-setting.js';
import { MODES } from '../support/modes.js';
import { hasServer, POSTGRES } from '../support/servers.js';

describe('turns whose process is killed', function () {
  this.timeout(120_000);
  let setting: KillSetting;

  before(async function () {
    await hasServer(this, POSTGRES);
    setting = await KillSetting.create();
  });

  afterEach(() => setting?.closeLanes());
  after(() => setting?.close());

  for (const [place, effects] of [
    ['tool charge: before its effect', 0],
    ['tool charge: after its effect', 1],
    ['step tool charge call_4: worked', 1],
  ] as const)
    it(`do not repeat a write tool by default, and the model reads why (killed at ${place})`, async () => {
      const lane = await setting.openLane({ mode: 'call', isMemoryInside: false, onUnknown: 'refuse' }); // prettier-ignore

      const { outcome, counts } = await lane.runKilled([place]);

      expect(counts['tool charge call_4']).to.equal(effects);
      expect(transcriptOf(outcome)).to.include('may have had its effect');
      expect(outcome.answer).to.nested.include({ kind: 'answer' });
    });

  it('ask a person about an interrupted write tool, and again if it is interrupted again', async () => {
    const lane = await setting.openLane({ mode: 'call', isMemoryInside: false, onUnknown: 'ask' });

    const places = ['tool charge: before its effect', 'tool charge: after its effect'];
    const { outcome, counts } = await lane.runKilled(places);

    expect(new Set(lane.questions)).to.have.property('size', 2);
    expect(counts['tool charge call_4']).to.equal(1);
    expect(outcome.answer).to.nested.include({ kind: 'answer' });
  });

  for (const mode of MODES)
    for (const isMemoryInside of [false, true])
      it(`continue with the history that they began with (${mode}, memory ${isMemoryInside ? 'inside' : 'outside'})`, async () => {
        const lane = await setting.openLane({ mode, isMemoryInside });
        const other = [
          { role: 'user', content: 'A question of another turn' },
          { role: 'assistant', content: 'Its answer' },
        ] as const;

        const { outcome, counts } = await lane.runKilled(['step model 1: recorded'], other);

        expect(outcome.answer).to.nested.include({ kind: 'answer' });
        expect(transcriptOf(outcome)).not.to.include('another turn');
        expect(JSON.stringify(outcome.memory)).to.include('another turn').and.to.include('done');
        expect(counts).to.include({ 'model 0': 1, 'model 1': 1, 'model 2': 1, 'model 3': 1 });
      });
});

const transcriptOf = ({ report }: TurnOutcome): string =>
  JSON.stringify((report as { readonly transcript: unknown }).transcript);
