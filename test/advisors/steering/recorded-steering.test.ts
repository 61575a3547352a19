import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  DurableAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryDurableEngine,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  SteeringAdvisor,
  SteeringInbox,
  type ChatModel,
  type DurableEntries,
  type PausedTurn,
  type SteeringMode,
  type SteeringOutcome,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { Observable } from '../../../src/core/internal/rxjs.js';
import { sentTexts, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { pauseOptions } from '../../support/paused-turns.js';

const call = (name: string, id: string) => ({ toolCalls: [{ id, name, arguments: {} }] });
const DOWN = { error: new ModelCallError('down', { status: 503, retryable: true }) };

interface Setting {
  readonly mode?: SteeringMode;
  readonly engine?: InMemoryDurableEngine;
  /** The tool in which the user sends a message. */
  readonly sends?: 'look' | 'pay';
}

/** A client with tools `look` and `pay`, which may wait for a person; the user sends a message in one. */
function setUp(
  script: readonly ScriptedAnswer[],
  { mode = 'steer', engine, sends = 'look' }: Setting = {},
) {
  const inbox = new SteeringInbox();
  const outcomes: Promise<SteeringOutcome>[] = [];
  const paid: string[] = [];
  const send = (name: string): void => {
    if (name === sends) outcomes.push(inbox.send('in euros', { mode }));
  };
  const look = defineTool({
    name: 'look',
    effect: 'read',
    execute: () => {
      send('look');
      return 'seen';
    },
  });
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: () => {
      send('pay');
      return `paid ${paid.push('x')}`;
    },
  });
  const model = new ScriptedChatModel(script);
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const client = ChatClient.builder(model)
    .defaultTools(look, pay)
    .defaultAdvisors(
      engine ? new DurableAdvisor({ engine }) : new ApprovalAdvisor({ pause: pauseOptions() }),
      new SteeringAdvisor({ inbox }),
      new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
      (a) => a.param(CONVERSATION_ID, 'c'),
    )
    .build();
  const stored = (): Promise<readonly string[]> => storedTexts(repository);
  const spec = () => client.prompt('q').turnId('t');
  return { client, model, inbox, outcomes, paid, stored, spec };
}

const allow = (paused: PausedTurn | undefined) =>
  [
    paused?.state ?? '',
    Object.fromEntries((paused?.requests ?? []).map(({ id }) => [id, { type: 'allow' as const }])),
  ] as const;

/** A model whose first call never ends: the user interrupts it. */
function interruptedModel(rest: ScriptedChatModel, inbox: SteeringInbox): ChatModel {
  let calls = 0;
  const interrupt = (): void => {
    setTimeout(() => void inbox.send('in euros', { mode: 'interrupt' }), 1);
  };
  return {
    defaultOptions: {},
    call: (prompt, run) => {
      if (calls++ > 0) return rest.call(prompt, run);
      interrupt();
      return new Promise(() => undefined);
    },
    stream: (prompt, run) => {
      if (calls++ > 0) return rest.stream(prompt, run);
      return new Observable((subscriber) => {
        subscriber.next({ type: 'text-delta', text: 'Dollars' });
        interrupt();
      });
    },
  };
}

for (const mode of MODES)
  describe(`steering of a recorded turn (${mode})`, () => {
    it('[D80] is a part of the resumed turn, and of its memory', async () => {
      const { client, model, outcomes, stored, spec } = setUp([
        call('look', 'a'),
        call('pay', 'b'),
        'done',
      ]);
      const { paused } = await runSpec(mode, spec());

      const { text } = await runSpec(mode, client.resume(...allow(paused)));

      const turn = ['q', '>a', '<a', 'in euros', '>b', '<b'];
      expect(text).to.equal('done');
      expect(await outcomes[0]).to.deep.equal({ status: 'delivered', iteration: 1 });
      expect(sentTexts(model).at(-1)).to.deep.equal(turn);
      expect(await stored()).to.deep.equal([...turn, 'done']);
    });

    it('[D80] is a part of a durable turn that runs again, without its inbox', async () => {
      const engine = new InMemoryDurableEngine();
      const script = [call('look', 'a'), call('pay', 'b'), 'done'];
      const first = setUp(script, { engine });
      await runSpec(mode, first.spec());
      const again = new InMemoryDurableEngine(engine.entries());
      const second = setUp([], { engine: again });

      const { text } = await runSpec(mode, second.spec());

      expect(text).to.equal('done');
      expect([second.model.prompts.length, second.paid.length]).to.deep.equal([0, 0]);
      expect(await second.stored()).to.deep.equal([]); // the write is recorded
      expect(again.isReplaying).to.equal(false);
      expect(namesOf(engine, 'steering')).to.deep.equal([
        'steering 0 []',
        'steering 1 [in euros]',
        'steering 2 []',
        'steering 2 #2 []',
      ]);
    });

    it('[D80] is a part of a turn that is killed after any step', async () => {
      const engine = new InMemoryDurableEngine();
      const script = [call('look', 'a'), call('pay', 'b'), 'done'];
      const whole = setUp(script, { engine });
      await runSpec(mode, whole.spec());
      const entries = engine.entries();
      const begin = entries.findIndex(([name]) => name === 'steering 1') + 1;

      for (let kept = begin; kept < entries.length; kept++) {
        const left = new InMemoryDurableEngine(entries.slice(0, kept));
        const rest = setUp(scriptAfter(left.entries(), script), { engine: left });
        const { text } = await runSpec(mode, rest.spec());
        expect(text, `after ${kept} steps`).to.equal('done');
        for (const sent of sentTexts(rest.model)) expect(sent).to.include('in euros');
      }
      expect(entries.length - begin).to.equal(7);
    });

    it('[D80] voids an answer, in the same way when the turn runs again', async () => {
      const engine = new InMemoryDurableEngine();
      const inbox = new SteeringInbox();
      const model = new ScriptedChatModel((_, index) => {
        if (index === 0) void inbox.send('in euros');
        return index === 0 ? 'dollars' : 'euros';
      });
      const play = (own: InMemoryDurableEngine) =>
        runSpec(
          mode,
          ChatClient.builder(model)
            .defaultAdvisors(new DurableAdvisor({ engine: own }), new SteeringAdvisor({ inbox }))
            .build()
            .prompt('q'),
        );

      const first = await play(engine);
      const second = await play(new InMemoryDurableEngine(engine.entries()));

      expect([first.text, second.text]).to.deep.equal(['euros', 'euros']);
      expect(sentTexts(model)).to.deep.equal([['q'], ['q', 'in euros']]);
    });

    it('[D109] lets a turn be resumed whose model call it has interrupted', async () => {
      const inbox = new SteeringInbox();
      const scripted = new ScriptedChatModel([call('pay', 'a'), 'done']);
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
      const client = ChatClient.builder(interruptedModel(scripted, inbox))
        .defaultTools(pay)
        .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }))
        .defaultAdvisors(new SteeringAdvisor({ inbox }))
        .build();
      const { paused } = await runSpec(mode, client.prompt('q'));

      const { text } = await runSpec(mode, client.resume(...allow(paused)));

      expect(text).to.equal('done');
      expect(sentTexts(scripted)).to.deep.equal([
        ['q', 'in euros'],
        ['q', 'in euros', '>a', '<a'],
      ]);
    });

    it('[D109] has the results that it gave to the calls of the old plan when the turn runs again', async () => {
      const engine = new InMemoryDurableEngine();
      const batch = { toolCalls: [...call('look', 'a').toolCalls, ...call('pay', 'b').toolCalls] };
      const first = setUp([batch, 'done'], { engine, mode: 'interrupt' });
      await runSpec(mode, first.spec());
      const ended = ['model 1', 'steering 1 #2', 'memory write'];
      const killed = engine.entries().filter(([name]) => !ended.includes(name));
      const second = setUp(['again'], { engine: new InMemoryDurableEngine(killed) });

      const { text } = await runSpec(mode, second.spec());

      expect(text).to.equal('again');
      expect(second.paid.length).to.equal(0);
      expect(second.model.prompts[0]?.messages).to.deep.equal(first.model.prompts[1]?.messages);
    });

    it('[D80] rejects a message of a resumed turn that fails before an answer, and leaves it out', async () => {
      const script = [call('pay', 'a'), DOWN, 'done'];
      const { client, model, outcomes, spec } = setUp(script, { sends: 'pay' });
      const { paused } = await runSpec(mode, spec());
      const failure = await failureOf(runSpec(mode, client.resume(...allow(paused))));
      const rest = (failure as { readonly paused?: PausedTurn }).paused;

      const { text } = await runSpec(mode, client.resume(rest?.state ?? '', {}));

      expect(text).to.equal('done');
      expect(await outcomes[0]).to.deep.equal({ status: 'rejected' });
      const turn = ['q', '>a', '<a'];
      expect(sentTexts(model)).to.deep.equal([['q'], [...turn, 'in euros'], turn]);
    });

    it('[D80] defers what waits when the turn pauses', async () => {
      const batch = { toolCalls: [...call('look', 'a').toolCalls, ...call('pay', 'b').toolCalls] };
      const { outcomes, inbox, spec } = setUp([batch]);

      const { paused } = await runSpec(mode, spec());

      expect(paused?.requests).to.have.length(1);
      expect(await outcomes[0]).to.deep.equal({ status: 'deferred' });
      expect(inbox.takeDeferred()).to.have.length(1);
    });
  });

/** Names of steps, with the texts of their messages. */
function namesOf(engine: InMemoryDurableEngine, prefix: string): readonly string[] {
  return engine
    .entries()
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => {
      const texts = (value as readonly string[]).map(
        (text) => (JSON.parse(text) as { readonly content: string }).content,
      );
      return `${name} [${texts.join()}]`;
    });
}

/** The answers of a script that a turn has not recorded. */
function scriptAfter(
  entries: DurableEntries,
  script: readonly ScriptedAnswer[],
): readonly ScriptedAnswer[] {
  return script.slice(entries.filter(([name]) => name.startsWith('model ')).length);
}
