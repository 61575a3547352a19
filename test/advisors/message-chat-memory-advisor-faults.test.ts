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
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { invalidReason, shortTexts } from '../support/conversation.js';
import { callOf, inConversation, INSIDE } from '../support/memory-advisor.js';
import { MODES, type Mode, runSpec } from '../support/modes.js';

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

/** A store whose n-th operation fails, before or after its effect. */
class FaultyRepository extends InMemoryChatMemoryRepository {
  operations = 0;
  failAt = 0;
  failsAfter = false;

  override read(...args: Parameters<ChatMemoryRepository['read']>) {
    return this.perform(() => super.read(...args));
  }

  override append(...args: Parameters<ChatMemoryRepository['append']>) {
    return this.perform(() => super.append(...args));
  }

  private async perform<T>(operation: () => Promise<T>): Promise<T> {
    const fails = ++this.operations === this.failAt;
    if (fails && !this.failsAfter) throw new Error('the store failed before');
    const result = await operation();
    if (fails) throw new Error('the store failed after');
    return result;
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
      it(`[F61] leaves a documented state and a valid next request: ${name} (${mode})`, async () => {
        const whole = await countOperations(mode, reference);
        expect(whole).to.equal(2 * reference.writes.length);
        for (let failAt = 1; failAt <= whole; failAt++)
          for (const failsAfter of [false, true])
            await checkFault(mode, reference, failAt, failsAfter);
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
  failsAfter: boolean,
): Promise<void> {
  const where = `operation ${failAt} fails ${failsAfter ? 'after' : 'before'} its effect`;
  const { repository, model, client } = await setUpSecondTurn(mode, reference);
  repository.failAt = repository.operations + failAt;
  repository.failsAfter = failsAfter;
  const failure = await run(mode, client, '1?').catch((error: unknown) => error);

  // reads and writes alternate
  const isRead = failAt % 2 === 1;
  const writesBefore = Math.floor((failAt - 1) / 2);
  if (isRead) {
    expect(failure, where).to.be.instanceOf(MemoryReadError);
    expect(model.prompts.length, `${where}: model calls`).to.equal(writesBefore);
  } else if (reference.fails) {
    expect(failure, where).to.be.instanceOf(ModelCallError);
  } else {
    expect(failure, where).to.be.instanceOf(MemoryWriteError);
    expect(
      (failure as MemoryWriteError<ChatClientResponse>).response,
      `${where}: answer`,
    ).not.to.equal(undefined);
  }
  const done = reference.writes.slice(0, writesBefore + (!isRead && failsAfter ? 1 : 0));
  expect(await repository.stored(), where).to.deep.equal(['0?', '0!', ...done.flat()]);

  const next = setUp({ script: ['2!'] }, repository);
  await run(mode, next.client, '2?');
  const prompt = next.model.prompts[0]?.messages ?? [];
  expect(invalidReason(prompt), `${where}: next request`).to.equal(undefined);
  expect(shortTexts(prompt).at(-1)).to.equal('2?');
  expect((await repository.stored()).slice(-2)).to.deep.equal(['2?', '2!']);
}
