import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryDurableEngine,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  NonDeterminismError,
  type Advisor,
  type DurableEngine,
  type Message,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { MODES } from '../support/modes.js';
import { finish, type Finished } from '../support/durable.js';

const look = defineTool({ name: 'look', effect: 'read', execute: () => 'found' });

interface Process {
  readonly system?: string;
  readonly question?: string;
  readonly advisors?: readonly Advisor[];
}

/** Runs a turn in one process, and again in another one that differs. */
async function runTwice(
  mode: 'call' | 'stream',
  first: Process,
  second: Process,
): Promise<Finished> {
  const engine = new InMemoryDurableEngine();
  await run(mode, engine, first);
  return run(mode, new InMemoryDurableEngine(engine.entries()), second);
}

function run(mode: 'call' | 'stream', engine: DurableEngine, process: Process): Promise<Finished> {
  const { system = 'Be brief.', question = 'Where?', advisors = [] } = process;
  const model = new ScriptedChatModel([{ toolCalls: [{ name: 'look', id: 'c1' }] }, 'Here.']);
  const client = ChatClient.builder(model)
    .defaultSystem(system)
    .defaultTools(look)
    .defaultAdvisors(new DurableAdvisor({ engine }), ...advisors)
    .build();
  const spec = client.prompt(question).advisors((a) => a.param(CONVERSATION_ID, 'c'));
  return finish(spec.turnId('turn-1'), mode);
}

const adding = (name: string, order: number, text: string): Advisor =>
  defineAdvisor({
    name,
    order,
    before: (request) =>
      request.withPrompt(request.prompt.augmentSystemMessage((system) => `${system} ${text}`)),
  });

function expectDifference(
  { error }: Finished,
  stepName: string,
  advisorName: string | undefined,
): void {
  expect(error).to.be.instanceOf(NonDeterminismError);
  const { code, stepName: step, advisorName: advisor } = error as NonDeterminismError;
  expect([code, step, advisor]).to.deep.equal(['non_determinism', stepName, advisorName]);
}

for (const mode of MODES)
  describe(`determinism of a durable turn (${mode})`, () => {
    it('names the advisor that writes the time into the system text', async () => {
      const process = (time: string): Process => ({
        advisors: [
          adding('tone', AdvisorOrder.GUARD, 'Be kind.'),
          adding('clock', AdvisorOrder.RETRIEVAL, `It is ${time}.`),
          adding('hint', AdvisorOrder.PROMPT_CACHE, 'Use tools.'),
        ],
      });

      const end = await runTwice(mode, process('noon'), process('night'));

      expectDifference(end, 'model 0', 'clock');
      expect((end.error as Error).message).to.include('advisor "clock" changed it otherwise');
    });

    it('names the advisor that finds other documents in a later iteration', async () => {
      const retrieval = (found: string): Advisor =>
        defineAdvisor({
          name: 'retrieval',
          order: AdvisorOrder.COMPACTION,
          before: (request) =>
            request.iteration === 0
              ? request
              : request.withMessages([
                  ...request.prompt.messages,
                  { role: 'user', content: `Document: ${found}` },
                ]),
        });

      const end = await runTwice(
        mode,
        { advisors: [retrieval('a')] },
        { advisors: [retrieval('b')] },
      );

      expectDifference(end, 'model 1', 'retrieval');
    });

    it('names an advisor that was added, or removed', async () => {
      const clock = adding('clock', AdvisorOrder.RETRIEVAL, 'It is noon.');

      expectDifference(await runTwice(mode, {}, { advisors: [clock] }), 'model 0', 'clock');
      expectDifference(await runTwice(mode, { advisors: [clock] }, {}), 'model 0', 'clock');
    });

    it('names no advisor if the request itself differs', async () => {
      const other = await runTwice(mode, {}, { question: 'When?' });
      const deployed = await runTwice(mode, {}, { system: 'Be long.' });

      expectDifference(other, 'model 0', undefined);
      expectDifference(deployed, 'model 0', undefined);
      expect((other.error as Error).message).to.include('the request itself differs');
    });

    it('continues if the conversation was changed meanwhile: its read is recorded', async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const advisors = [new MessageChatMemoryAdvisor({ chatMemory })];
      const engine = new InMemoryDurableEngine();
      await run(mode, engine, { advisors });
      const other: Message = { role: 'user', content: 'another turn' };
      await chatMemory.add('c', other, { turnId: 'turn-2' });

      const again = new InMemoryDurableEngine(engine.entries());
      const { response } = await run(mode, again, { advisors });

      expect(response?.text).to.equal('Here.');
      expect((await repository.read('c')).messages).to.have.length(3);
    });

    it('accepts advisors that change nothing the model receives', async () => {
      const stamped = (time: number): Advisor =>
        defineAdvisor({
          name: 'stamp',
          order: AdvisorOrder.GUARD,
          before: (request) =>
            request.withMessages(
              request.prompt.messages.map((message) =>
                message.role === 'user' ? { ...message, metadata: { time } } : message,
              ),
            ),
        });

      const { response } = await runTwice(
        mode,
        { advisors: [stamped(1)] },
        { advisors: [stamped(2)] },
      );

      expect(response?.text).to.equal('Here.');
    });
  });
