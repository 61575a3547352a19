import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  MemoryReadError,
  MemoryWriteError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  type ChatClientResponse,
  type ChatMemoryRepository,
  type MessageChatMemoryAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { invalidReason, shortTexts } from '../../support/conversation.js';
import { callOf, inConversation, INSIDE } from '../../support/memory-advisor.js';
import { MODES, type Mode, runSpec } from '../../support/modes.js';

/** A turn, and its writes, as docs/memory.md describes them. */
interface Reference {
  readonly script: readonly ScriptedAnswer[];
  readonly options?: Partial<MessageChatMemoryAdvisorOptions>;
  readonly returnDirect?: boolean;
  /** Stored texts of the whole turn, by write. */
  readonly writes: readonly (readonly string[])[];
  /** True if the turn fails with a working store too. */
  readonly fails?: boolean;
}

const steps = [{ toolCalls: [callOf('a'), callOf('b')] }, { toolCalls: [callOf('c')] }, '1!'];
const cut = (text: string): ModelCallError => new ModelCallError('cut', { partialText: text });

const REFERENCES: Readonly<Record<string, Reference>> = {
  'an answer': { script: ['1!'], writes: [['1?', '1!']] },
  'an answer after tools': { script: steps, writes: [['1?', '1!']] },
  'an answer after tools that are stored': {
    script: steps,
    options: { storeToolMessages: true },
    writes: [['1?', '>a>b', '<a', '<b', '>c', '<c', '1!']],
  },
  'an answer after tools, inside the loop': {
    script: steps,
    options: { order: INSIDE },
    writes: [
      ['1?', '>a>b'],
      ['<a', '<b', '>c'],
      ['<c', '1!'],
    ],
  },
  'return-direct results': {
    script: steps.slice(0, 1),
    returnDirect: true,
    writes: [['1?', 'result of a\nresult of b']],
  },
  'a partial answer that is kept': {
    script: [{ deltas: ['half'], error: cut('half') }],
    options: { onIncomplete: 'keep-partial' },
    writes: [['1?', 'half']],
    fails: true,
  },
};

/** A failure of a store: its effect and its error, and whether the next operation fails, too. */
interface Fault {
  readonly hasEffect: boolean;
  readonly outcome: MemoryWriteError['outcome'];
  readonly lasts: boolean;
}

const FAULTS: readonly Fault[] = [
  { hasEffect: false, outcome: 'not-stored', lasts: false },
  ...[false, true].flatMap((hasEffect) =>
    [false, true].map((lasts): Fault => ({ hasEffect, outcome: 'unknown', lasts })),
  ),
];

/** A store that fails from its n-th operation on. */
class FaultyRepository extends InMemoryChatMemoryRepository {
  operations = 0;
  failAt = 0;
  fault: Fault = { hasEffect: false, outcome: 'unknown', lasts: false };

  override read(...args: Parameters<ChatMemoryRepository['read']>) {
    return this.perform(() => super.read(...args));
  }

  override append(...args: Parameters<ChatMemoryRepository['append']>) {
    return this.perform(() => super.append(...args));
  }

  private async perform<T>(operation: () => Promise<T>): Promise<T> {
    const at = ++this.operations - this.failAt;
    const { hasEffect, outcome, lasts } = this.fault;
    if (at !== 0 && !(at === 1 && lasts)) return operation();
    if (hasEffect) await operation();
    const cause = new Error('the store failed');
    throw outcome === 'not-stored' ? new MemoryWriteError('c', { outcome, cause }) : cause;
  }

  async stored(): Promise<readonly string[]> {
    const { messages } = await super.read('c');
    return shortTexts(messages.map(({ message }) => message));
  }
}

function run(mode: Mode, client: ChatClient, text: string): Promise<ChatClientResponse> {
  return runSpec(mode, inConversation(client.prompt(text)));
}

function setUp(
  { script, options = {}, returnDirect = false }: Omit<Reference, 'writes'>,
  repository = new FaultyRepository(),
) {
  const model = new ScriptedChatModel(script);
  const chatMemory = new MessageWindowChatMemory({ repository });
  const look = defineTool({
    name: 'look',
    input: { type: 'object' },
    returnDirect,
    execute: ({ id }) => `result of ${String(id)}`,
  });
  const client = ChatClient.builder(model)
    .defaultTools(look)
    .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, ...options }))
    .build();
  return { repository, model, client };
}

describe('MessageChatMemoryAdvisor when its store fails', () => {
  for (const mode of MODES)
    for (const [name, reference] of Object.entries(REFERENCES))
      it(`[D44] [F61] leaves a documented state and a valid next request: ${name} (${mode})`, async () => {
        const whole = await countOperations(mode, reference);
        expect(whole).to.equal(2 * reference.writes.length);
        for (let failAt = 1; failAt <= whole; failAt++)
          for (const fault of FAULTS) await checkFault(mode, reference, failAt, fault);
      });
});

/** Creates a client for the turn, after a first turn. */
async function setUpSecondTurn(mode: Mode, reference: Reference) {
  const { repository, client } = setUp({ script: ['0!'] });
  await run(mode, client, '0?');
  return setUp(reference, repository);
}

/** Counts the operations of the turn when nothing fails. */
async function countOperations(mode: Mode, reference: Reference): Promise<number> {
  const { repository, client } = await setUpSecondTurn(mode, reference);
  const before = repository.operations;
  const failure = await run(mode, client, '1?').catch((error: unknown) => error);
  expect(failure instanceof Error).to.equal(reference.fails ?? false);
  const operations = repository.operations - before;
  expect(await repository.stored()).to.deep.equal(['0?', '0!', ...reference.writes.flat()]);
  return operations;
}

async function checkFault(
  mode: Mode,
  reference: Reference,
  failAt: number,
  fault: Fault,
): Promise<void> {
  const where = `operation ${failAt}: ${JSON.stringify(fault)}`;
  const { repository, model, client } = await setUpSecondTurn(mode, reference);
  repository.failAt = repository.operations + failAt;
  repository.fault = fault;
  const failure = await run(mode, client, '1?').catch((error: unknown) => error);

  // reads and writes alternate
  const isRead = failAt % 2 === 1;
  const writesBefore = Math.floor((failAt - 1) / 2);
  // a write of unknown outcome is repeated once
  const isRepaired = !isRead && fault.outcome === 'unknown' && !fault.lasts;
  if (isRead) {
    expect(failure, where).to.be.instanceOf(MemoryReadError);
    expect(model.prompts.length, `${where}: model calls`).to.equal(writesBefore);
  } else if (reference.fails) {
    expect(failure, where).to.be.instanceOf(ModelCallError);
  } else if (isRepaired) {
    expect(failure, where).not.to.be.instanceOf(Error);
  } else {
    expect(failure, where).to.be.instanceOf(MemoryWriteError);
    const { outcome, response } = failure as MemoryWriteError<ChatClientResponse>;
    expect(outcome, where).to.equal(fault.outcome);
    expect(response, `${where}: answer`).not.to.equal(undefined);
  }
  const isStored = !isRead && fault.hasEffect;
  const done = isRepaired ? undefined : writesBefore + (isStored ? 1 : 0);
  const expected = ['0?', '0!', ...reference.writes.slice(0, done).flat()];
  expect(await repository.stored(), where).to.deep.equal(expected);

  repository.failAt = 0;
  const next = setUp({ script: ['2!'] }, repository);
  await run(mode, next.client, '2?');
  const prompt = next.model.prompts[0]?.messages ?? [];
  expect(invalidReason(prompt), `${where}: next request`).to.equal(undefined);
  expect(shortTexts(prompt).at(-1)).to.equal('2?');
  expect((await repository.stored()).slice(-2)).to.deep.equal(['2?', '2!']);
}
