import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClient,
  MemoryReadError,
  MemoryWriteError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  type ChatMemoryRepository,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { CLIENT_NAMES, connectDirectly, NAME, throughProxy } from '../../support/cut-clients.js';
import type { Cut } from '../../support/cutting-proxy.js';
import { inConversation, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { inFull } from '../../support/sweep.js';

const [TURNS, CONVERSATIONS] = [inFull(2_000, 600), 8];

/** Outcome of a turn that its caller knows. */
type Outcome = 'stored' | MemoryWriteError['outcome'];

/** A cut before the turn reads the conversation, or before it stores its messages. */
interface PlannedCut extends Cut {
  readonly before: 'read' | 'write';
}

/** Three of four turns are cut; a read and a write of a turn have about 1,700 bytes. */
const CUT: fc.Arbitrary<PlannedCut | undefined> = fc.option(
  fc.oneof(
    fc.record<PlannedCut>({
      before: fc.constantFrom('read', 'write', 'write'),
      direction: fc.constant('request'),
      at: fc.integer({ min: 0, max: 1_700 }),
      times: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record<PlannedCut>({
      before: fc.constantFrom('read', 'write', 'write'),
      direction: fc.constant('reply'),
      at: fc.integer({ min: 0, max: 100 }),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  ),
  { nil: undefined, freq: 3 },
);

describe('a chat memory whose connection breaks at random', function () {
  this.timeout(300_000);
  this.slow(60_000);

  for (const name of CLIENT_NAMES)
    describe(`with ${name}`, () => {
      const direct = connectDirectly(name);

      it(`[D44] loses and doubles none of ${TURNS} turns, and each outcome is true`, async () => {
        const plan = fc.sample(CUT, { numRuns: TURNS, seed: 44 });
        const outcomes = new Map<string, Outcome>();
        let cuts = 0;
        const work = async (_: unknown, conversation: number): Promise<void> =>
          throughProxy(name, conversation % 2 === 0, async (repository, proxy) => {
            for (let turn = conversation; turn < TURNS; turn += CONVERSATIONS) {
              const { before, ...cut } = plan[turn] ?? {};
              const arm = (now: PlannedCut['before']) => {
                if (before === now) proxy.cutAfter(cut as Cut);
              };
              await untilConnected(repository);
              arm('read');
              const outcome = await runTurn(repository, turn, () => arm('write'));
              outcomes.set(`${turn}`, outcome);
            }
            cuts += proxy.cuts;
          });
        await Promise.all(Array.from({ length: CONVERSATIONS }, work));

        const found = await countStored(direct());
        const counts = { stored: 0, 'not-stored': 0, unknown: 0 };
        let [lost, doubled, wrong] = [0, 0, 0];
        for (const [turn, outcome] of outcomes) {
          const stored = found.get(turn) ?? 0;
          counts[outcome]++;
          if (outcome === 'stored' && stored === 0) lost++;
          if (outcome === 'not-stored' && stored > 0) wrong++;
          if (stored > 1) doubled++;
        }
        console.log(
          `      ${TURNS.toLocaleString('en')} turns, ${cuts} cuts: ${lost} lost, ${doubled} doubled, ${wrong} stored although reported as not stored; ${counts.stored} stored, ${counts['not-stored']} not stored, ${counts.unknown} unknown`,
        );

        expect(outcomes).to.have.property('size', TURNS);
        expect({ lost, doubled, wrong }).to.deep.equal({ lost: 0, doubled: 0, wrong: 0 });
        expect(cuts).to.be.greaterThan(TURNS / 4);
        for (const outcome of ['stored', 'not-stored', 'unknown'] as const)
          expect(counts[outcome], outcome).to.be.greaterThan(0);
      });
    });
});

/** A client that does not resend fails at once while it has no connection. */
async function untilConnected(repository: ChatMemoryRepository): Promise<void> {
  const read = (): Promise<unknown> => repository.read('warm', { limit: 0 });
  while (await failureOf(read())) await delay(2);
}

/** Runs a turn with the messages `1` and `1!`, in the conversation of its client. */
async function runTurn(
  repository: ChatMemoryRepository,
  turn: number,
  beforeWrite: () => void,
): Promise<Outcome> {
  const model = new ScriptedChatModel(({ userMessage }) => {
    beforeWrite();
    return `${textOf(userMessage?.content ?? '')}!`;
  });
  const chatMemory = new MessageWindowChatMemory({ repository });
  const client = ChatClient.builder(model)
    .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
    .build();
  const spec = inConversation(client.prompt(`${turn}`), `${NAME} ${turn % CONVERSATIONS}`);
  const mode = MODES[Math.floor(turn / CONVERSATIONS) % MODES.length] ?? 'call';
  return runSpec(mode, spec).then(
    () => 'stored',
    (error: unknown) => {
      if (error instanceof MemoryWriteError) return error.outcome;
      expect(error).to.be.instanceOf(MemoryReadError);
      return 'not-stored';
    },
  );
}

/** Number of times that each turn is stored; a turn is stored whole. */
async function countStored(repository: ChatMemoryRepository): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let conversation = 0; conversation < CONVERSATIONS; conversation++) {
    const texts = await storedTexts(repository, `${NAME} ${conversation}`);
    const turns = texts.filter((_, at) => at % 2 === 0);
    expect(texts).to.deep.equal(turns.flatMap((turn) => [turn, `${turn}!`]));
    for (const turn of turns) found.set(turn, (found.get(turn) ?? 0) + 1);
  }
  return found;
}
