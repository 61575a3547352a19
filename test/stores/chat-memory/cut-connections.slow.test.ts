import { expect } from 'chai';
import {
  MemoryWriteError,
  MessageWindowChatMemory,
  type ChatMemoryRepository,
} from '../../../src/index.js';
import { turn } from '../../support/conversation.js';
import {
  CLIENT_NAMES,
  connectDirectly,
  NAME,
  throughProxy,
  type ClientName,
} from '../../support/cut-clients.js';
import type { Direction } from '../../support/cutting-proxy.js';

/** A turn whose connection is cut, and its end. */
interface CutTurn {
  readonly id: string;
  readonly failure: MemoryWriteError | undefined;
}

describe('a write whose connection breaks', function () {
  this.timeout(300_000);
  this.slow(60_000);

  for (const name of CLIENT_NAMES)
    describe(`with ${name}`, () => {
      const direct = connectDirectly(name);

      for (const direction of ['request', 'reply'] as const) {
        it(`[D44] is stored once, whatever bytes of the ${direction} pass`, async () => {
          const turns = await cutAtEachByte(name, direction, true);

          expect(turns.filter(({ failure }) => failure)).to.deep.equal([]);
          expect(turns).to.have.length.greaterThan(direction === 'request' ? 1_000 : 20);
          await expectTruth(turns, direct());
        });

        it(`[D44] has a true outcome if the server stays away after a byte of the ${direction}`, async () => {
          const turns = await cutAtEachByte(name, direction, false);

          expect(turns.map(({ failure }) => failure?.outcome)).to.include('unknown');
          await expectTruth(turns, direct());
        });
      }
    });
});

/** Expects that an acknowledged turn is stored once, and one that was not stored is not. */
async function expectTruth(turns: readonly CutTurn[], direct: ChatMemoryRepository): Promise<void> {
  const lies: unknown[] = [];
  const counts = { stored: 0, 'not-stored': 0, unknown: 0 };
  for (const { id, failure } of turns) {
    const stored = (await direct.read(id)).messages.length;
    const outcome = failure?.outcome ?? 'stored';
    const possible = { stored: [2], 'not-stored': [0], unknown: [0, 2] }[outcome];
    counts[outcome]++;
    if (!possible.includes(stored)) lies.push({ id, stored, outcome });
  }
  console.log(
    `      ${turns.length} cuts: ${counts.stored} stored, ${counts['not-stored']} not stored, ${counts.unknown} unknown, ${lies.length} wrong`,
  );
  expect(lies).to.deep.equal([]);
}

/** Number of bytes of a write that is not cut. */
async function measure(
  name: ClientName,
  direction: Direction,
  comesBack: boolean,
): Promise<number> {
  let length = 0;
  await throughProxy(name, true, async (repository, proxy) => {
    proxy.cutAfter({ direction, at: Infinity });
    await store(repository, idOf(direction, 0, comesBack));
    length = proxy.passed[direction];
  });
  return length;
}

/**
 * Cuts one turn after each byte, 16 at a time, each with a proxy and a client of its own.
 * @param comesBack whether the server accepts the next connection, for which the client waits
 */
async function cutAtEachByte(
  name: ClientName,
  direction: Direction,
  comesBack: boolean,
): Promise<readonly CutTurn[]> {
  const length = await measure(name, direction, comesBack);
  const turns: CutTurn[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at <= length; at = next++) {
      const cut = { direction, at, staysDown: !comesBack };
      const id = idOf(direction, at + 1, comesBack);
      await throughProxy(name, comesBack, async (repository, proxy) => {
        proxy.cutAfter(cut);
        turns.push({ id, failure: await store(repository, id) });
      });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return turns;
}

/** Ids of one length, so that all writes have the same number of bytes. */
const idOf = (direction: Direction, at: number, comesBack: boolean): string =>
  `${NAME} ${direction} ${comesBack ? 'back' : 'gone'} ${String(at).padStart(5, '0')}`;

function store(
  repository: ChatMemoryRepository,
  id: string,
): Promise<MemoryWriteError | undefined> {
  const memory = new MessageWindowChatMemory({ repository });
  return memory.add(id, turn(1), { turnId: 'turn 1' }).then(
    () => undefined,
    (error: unknown) => {
      expect(error).to.be.instanceOf(MemoryWriteError);
      return error as MemoryWriteError;
    },
  );
}
