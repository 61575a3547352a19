import { expect } from 'chai';
import { ModelCallError, Prompt } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { loadCassettes, type Cassette } from './cassettes.js';
import { PlaybackServer } from './playback-server.js';
import { classOf } from './recording-classes.js';
import { loopDifferences, loopsOf, replayLoop } from './recorded-loop.js';
import {
  differences,
  modeOf,
  otherMode,
  parityDifferences,
  replay,
  requestDifferences,
} from './recording-replay.js';

/** Differences by question. */
type Findings = Record<'recorded' | 'converted' | 'parity' | 'requests' | 'loops', string[]>;

/** Replays every n-th recording and compares it with the recorded traffic. */
export function describeRecordedTraffic({ every }: { readonly every: number }): void {
  describe('recorded provider traffic', function () {
    this.timeout(120_000);
    let server: PlaybackServer;
    let cassettes: readonly Cassette[];
    let loops = 0;
    const found = new Map<Cassette, Findings>();
    const all = (question: keyof Findings): readonly string[] =>
      [...found.values()].flatMap((findings) => findings[question]);

    before(async function () {
      cassettes = loadCassettes(this).filter(
        ({ interactions }, at) => at % every === 0 || isLimited(interactions),
      );
      server = await PlaybackServer.start();
      for (const cassette of cassettes) found.set(cassette, await examine(cassette));
    });
    after(() => server?.close());

    async function examine(cassette: Cassette): Promise<Findings> {
      const findings: Findings = {
        recorded: [],
        converted: [],
        parity: [],
        requests: [],
        loops: [],
      };
      const note = (question: keyof Findings, where: string, what: readonly string[]): void =>
        void findings[question].push(...what.map((text) => `${cassette.id}#${where}: ${text}`));
      for (const [at, interaction] of cassette.interactions.entries()) {
        const mode = modeOf(interaction.response);
        const recorded = await replay(server, interaction, true);
        const converted = await replay(server, interaction, false);
        note('recorded', `${at}`, differences(interaction, recorded, mode));
        note('converted', `${at}`, differences(interaction, converted, otherMode(mode)));
        note('parity', `${at}`, parityDifferences(recorded, converted));
        note('requests', `${at}`, requestDifferences(interaction, recorded, mode));
      }
      for (const loop of loopsOf(cassette)) {
        loops++;
        const outcomes = {
          call: await replayLoop(server, loop, 'call'),
          stream: await replayLoop(server, loop, 'stream'),
        };
        for (const mode of ['call', 'stream'] as const)
          note('loops', `${loop.start} ${mode}`, loopDifferences(loop, outcomes[mode], mode));
        note('parity', `${loop.start} loop`, parityDifferences(outcomes.call, outcomes.stream));
      }
      return findings;
    }

    it('returns every recorded response and error in the recorded mode', () => {
      expect(all('recorded')).to.deep.equal([]);
    });

    it('returns the same for a body that is streamed and a stream that is sent as one body', () => {
      expect(all('converted')).to.deep.equal([]);
    });

    it('returns the same final response by call and by stream, after the same requests', () => {
      expect(all('parity')).to.deep.equal([]);
    });

    it('sends every recorded request, apart from the stream fields', () => {
      expect(all('requests')).to.deep.equal([]);
    });

    it('reproduces every strict tool loop through ChatClient, with the fields that the provider needs again', () => {
      console.log(`      ${loops} turns with tools, each by call and by stream`);
      expect(all('loops')).to.deep.equal([]);
      expect(loops).to.be.greaterThan(0);
    });

    it('assigns every recording to a class', () => {
      const rows = new Map<string, number>();
      let interactions = 0;
      for (const [cassette, findings] of found) {
        const name = Object.values(findings).every((list) => list.length === 0)
          ? classOf(cassette)
          : 'unexpected';
        rows.set(name, (rows.get(name) ?? 0) + 1);
        interactions += cassette.interactions.length;
      }
      for (const [name, count] of [...rows].sort(([, a], [, b]) => b - a))
        console.log(`      ${String(count).padStart(4)}  ${name}`);
      const good = cassettes.length - (rows.get('unexpected') ?? 0);
      console.log(
        `      ${good}/${cassettes.length} recordings, ${interactions} interactions in both modes`,
      );
      expect(good).to.equal(cassettes.length);
      expect([...rows.keys()]).to.not.include('unexpected');
    });

    it('retries a recorded rate limit up to the maximum, after the time that the server asks for', async function () {
      const limited = cassettes.find(({ interactions }) => isLimited(interactions));
      if (!limited) {
        console.log('skipped: no recording shows a rate limit alone');
        return this.skip();
      }
      const responses = limited.interactions.map(({ response }) => ({
        ...response,
        headers: { 'retry-after-ms': '5' },
      }));
      const run = server.play(responses);
      const model = new OpenAIChatModel({
        model: 'm',
        apiKey: 'sk-test',
        baseURL: run.baseURL,
        maxRetries: responses.length - 1,
      });

      const error = await model.call(new Prompt('hi')).catch((thrown: unknown) => thrown);

      expect(run.requests).to.have.length(responses.length);
      expect(error)
        .to.be.instanceOf(ModelCallError)
        .and.include({ status: 429, retryable: true, retryAfter: 5 });
    });
  });
}

function isLimited(interactions: Cassette['interactions']): boolean {
  return interactions.every(({ response }) => response.status === 429);
}
