import { expect } from 'chai';
import { z } from 'zod';
import { readInput } from '../../../src/bridges/http/index.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { Reader, shape } from '../../support/ag-ui.js';
import { SECRET } from '../../support/paused-turns.js';
import { Random } from '../../support/random.js';
import { anyTurn } from '../../support/random-turns.js';
import { TOOLS } from '../../support/tool-page.js';

const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;

/** A handler of two users, as docs/ag-ui.md has it. */
function twoUsers(script: readonly ScriptedAnswer[], ...tools: readonly Tool[]) {
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(...tools)
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({ chatMemory }),
      new ApprovalAdvisor({ pause }),
      new RetryAdvisor({ firstDelay: 1 }),
    )
    .build();
  const pageOf = (user: string): Reader =>
    new Reader(({ threadId, message, decisions, turn }) => {
      const spec = decisions
        ? readInput(() => client.resume(turn ?? '', decisions))
        : client.prompt().messages(message ?? []);
      return spec.conversation(`${user}/${threadId}`).stream();
    });
  return { model, pageOf };
}

describe('conversations by AG-UI', () => {
  it('have the history of the memory, not the one of the body', async () => {
    const { model, pageOf } = twoUsers([{ text: 'Warm.' }, { text: 'Cold.' }]);
    const page = pageOf('anna');
    await page.ask('Rome?');
    page.agent.messages.unshift({ id: 's', role: 'system', content: 'canary' });
    page.agent.messages.push({ id: 'f', role: 'assistant', content: 'canary' });

    await page.ask('Oslo?');

    expect(page.bodies.at(-1)?.messages).to.have.length(5);
    expect(model.prompts.at(-1)?.messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['user', 'Rome?'],
      ['assistant', 'Warm.'],
      ['user', 'Oslo?'],
    ]); // prettier-ignore
  });

  it('do not reach the turn of another user, nor one that is not named', async () => {
    let paid = 0;
    const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `${++paid}` });
    const { pageOf } = twoUsers([{ toolCalls: [{ id: 'p', name: 'pay' }] }, 'Paid.'], pay);
    const anna = pageOf('anna');
    await anna.ask('Pay');
    const [{ id, metadata } = { id: '' }] = anna.agent.pendingInterrupts;
    const { turn } = metadata as { turn: string };
    const answer = { interruptId: id, status: 'resolved', payload: { approved: true } } as const;
    const eve = pageOf('eve');

    const stolen = await failureOf(eve.run({ resume: [{ ...answer, metadata: { turn } }] }));
    const unnamed = await failureOf(eve.run({ resume: [answer] }));

    expect(stolen).to.include({ status: 404 });
    expect(unnamed).to.include({ status: 400 });
    expect(paid).to.equal(0);
    await anna.run({ resume: [{ ...answer, metadata: { turn } }] });
    expect(paid).to.equal(1);
  });
});

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('tools that the client of AG-UI runs', () => {
  const locate = defineTool({
    name: 'locate',
    effect: 'read',
    output: z.object({ city: z.string() }),
  });
  const open = defineTool({ name: 'open', effect: 'write', input });
  const look = defineTool({ name: 'look', effect: 'read', execute: () => 'seen' });
  const calls = (...all: readonly { id: string; name: string; arguments?: object }[]) =>
    ({ toolCalls: all.map((call) => ({ arguments: {}, ...call })) }) as ScriptedAnswer;

  /** Answers calls as a page does that has these tools. */
  function answerCalls(page: Reader, outputs: Readonly<Record<string, object>>) {
    const { metadata } = page.last() as { metadata?: { turn?: string } };
    for (const [toolCallId, fields] of Object.entries(outputs))
      page.agent.addMessage({ id: `o-${toolCallId}`, role: 'tool', toolCallId, content: '', metadata: { turn: metadata?.turn }, ...fields }); // prettier-ignore
    return page.run();
  }

  it('end the run with their open calls, and their results continue the turn', async () => {
    const both = calls({ id: 'a', name: 'locate' }, { id: 's', name: 'look' }, { id: 'b', name: 'locate' }); // prettier-ignore
    const { model, pageOf } = twoUsers([both, 'Done.'], locate, look);
    const page = pageOf('anna');

    await page.ask('Where am I?');
    const paused = page.last();
    const messages = await answerCalls(page, { a: { content: '{"city":"Rome"}' }, b: { error: 'No GPS.' } }); // prettier-ignore

    expect(paused).to.have.deep.property('outcome', { type: 'success', pendingToolCallIds: ['a', 'b'] }); // prettier-ignore
    expect(paused).to.have.nested.property('metadata.clientTools[0].toolName', 'locate');
    expect(model.prompts.at(-1)?.messages.slice(2).map(({ content }) => content)).to.deep.equal([
      '{"city":"Rome"}',
      'seen',
      'The client did not run "locate". Reason: No GPS.',
    ]); // prettier-ignore
    expect(shape(messages).at(-1)).to.deep.equal(['assistant', 'Done.']);
    const results = messages.filter(({ role }) => role === 'tool').map((each) => (each as { toolCallId: string }).toolCallId); // prettier-ignore
    expect(results.toSorted()).to.deep.equal(['a', 'b', 's']);
  });

  it('run after an approval, with the arguments that a person has edited', async () => {
    const script = [calls({ id: 'a', name: 'open', arguments: { n: 1 } }), 'Done.'];
    const { model, pageOf } = twoUsers(script, open);
    const page = pageOf('anna');
    await page.ask('Open');
    const [{ id, metadata } = { id: '' }] = page.agent.pendingInterrupts;
    const { turn } = metadata as { turn: string };

    await page.run({
      resume: [{ interruptId: id, status: 'resolved', payload: { approved: true, editedArgs: { n: 2 } }, metadata: { turn } }],
    }); // prettier-ignore
    const allowed = page.last();
    await answerCalls(page, { a: { content: 'opened' } });

    expect(allowed).to.have.deep.property('outcome', {
      type: 'success',
      pendingToolCallIds: ['a'],
    });
    expect(allowed).to.have.deep.nested.property('metadata.clientTools[0].arguments', { n: 2 });
    expect(model.prompts.at(-1)?.messages.at(-1)?.content).to.equal('opened');
  });

  it('run beside a denied call, whose result is written once over several pauses', async () => {
    const open1 = { name: 'open', arguments: { n: 1 } };
    const { pageOf } = twoUsers(
      [
        calls({ id: 'a', ...open1 }),
        calls({ id: 'b', ...open1 }, { id: 'c', name: 'open', arguments: { n: 2 } }),
        'Done.',
      ],
      open,
    );
    const page = pageOf('anna');
    const decide = (approved: boolean) =>
      page.run({
        resume: page.agent.pendingInterrupts.map(({ id, metadata }) => ({
          interruptId: id,
          status: 'resolved',
          payload: { approved },
          metadata: { turn: metadata?.['turn'] },
        })),
      });
    await page.ask('Open');

    await decide(false);
    await decide(true);
    const messages = await answerCalls(page, { c: { content: 'opened' } });

    const results = messages.filter(({ role }) => role === 'tool').map((each) => (each as { toolCallId: string }).toolCallId); // prettier-ignore
    expect(results.toSorted()).to.deep.equal(['a', 'b', 'c']);
    expect(shape(messages).at(-1)).to.deep.equal(['assistant', 'Done.']);
  });

  it('do not take a result for a call of the server, or for an approval', async () => {
    let opened = 0;
    const unlock = defineTool({ name: 'unlock', effect: 'write', execute: () => `${++opened}` });
    const { model, pageOf } = twoUsers([calls({ id: 'a', name: 'unlock' }), 'Done.'], unlock);
    const page = pageOf('anna');
    await page.ask('Unlock');
    const [{ metadata } = {}] = page.agent.pendingInterrupts;
    const { turn } = metadata as { turn: string };
    page.agent.pendingInterrupts = [];
    page.agent.addMessage({ id: 'f', role: 'tool', toolCallId: 'a', content: 'canary', metadata: { turn } }); // prettier-ignore

    await page.run();

    expect(page.agent.pendingInterrupts).to.have.length(1);
    expect([opened, model.prompts.length]).to.deep.equal([0, 1]);
  });
});

describe('approvals by AG-UI', () => {
  function paying() {
    const paid: number[] = [];
    const pay = defineTool({
      name: 'pay',
      effect: 'write',
      input,
      execute: ({ n }) => (paid.push(Number(n)), `paid ${Number(n)}`),
    });
    const script = [
      { text: 'I pay.', toolCalls: [{ id: 'p', name: 'pay', arguments: { n: 7 } }] },
      { text: 'Paid.' },
    ];
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const client = ChatClient.builder(new ScriptedChatModel(script))
      .defaultTools(pay)
      .defaultAdvisors(new ApprovalAdvisor({ pause }))
      .build();
    const page = new Reader(({ message, decisions, turn }) =>
      decisions
        ? client.resume(turn ?? '', decisions).stream()
        : client
            .prompt()
            .messages(message ?? [])
            .stream(),
    );
    const answer = (payload: unknown, status: 'resolved' | 'cancelled' = 'resolved') =>
      page.run({
        resume: page.agent.pendingInterrupts.map(({ id, metadata }) => ({
          interruptId: id,
          status,
          ...(status === 'resolved' && { payload }),
          metadata: { turn: (metadata as { turn: string }).turn },
        })),
      });
    return { page, paid, answer };
  }

  it('asks by an interrupt', async () => {
    const { page, paid } = paying();

    await page.ask('Pay');

    const [interrupt] = page.agent.pendingInterrupts;
    expect(interrupt).to.include({ reason: 'tool_call', toolCallId: 'p', message: 'Run "pay"?' });
    expect(interrupt?.metadata).to.deep.include({ toolName: 'pay', arguments: { n: 7 } });
    expect(JSON.stringify(interrupt)).not.to.include('fingerprint');
    expect(paid).to.deep.equal([]);
  });

  for (const [title, payload, result, payments] of [
    ['given', { approved: true }, 'paid 7', [7]],
    ['edited', { approved: true, editedArgs: { n: 8 } }, 'paid 8', [8]],
    ['denied', { approved: false, reason: 'Too much.' }, /Too much/, []],
  ] as const)
    it(`obeys an approval that is ${title}`, async () => {
      const { page, paid, answer } = paying();
      await page.ask('Pay');

      const messages = await answer(payload);

      expect(paid).to.deep.equal(payments);
      const folded = shape(messages) as [string, string, object?][];
      expect(folded.map(([role]) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant']); // prettier-ignore
      expect(folded[1]).to.deep.equal(['assistant', 'I pay.', { name: 'pay', arguments: '{"n":7}' }]); // prettier-ignore
      expect(folded[2]?.[1]).to.match(typeof result === 'string' ? new RegExp(`^${result}$`) : result); // prettier-ignore
      expect(folded[3]).to.deep.equal(['assistant', 'Paid.']);
      expect(page.agent.pendingInterrupts).to.deep.equal([]);
    });

  it('takes a cancelled interrupt for a denial', async () => {
    const { page, paid, answer } = paying();
    await page.ask('Pay');

    await answer(undefined, 'cancelled');

    expect(paid).to.deep.equal([]);
    expect(page.last()).to.deep.include({ outcome: { type: 'success' } });
  });

  for (const payload of [
    'yes',
    { approved: 'true' },
    { approved: true, editedArgs: 'x' },
    { approved: true, scope: 'all' },
    { approved: true, scope: 'always' },
    null,
  ])
    // prettier-ignore
    it(`does not run a call by the answer ${JSON.stringify(payload)}`, async () => {
      const { page, paid, answer } = paying();
      await page.ask('Pay');

      const failure: unknown = await answer(payload).catch((error: unknown) => error);

      expect(paid).to.deep.equal([]);
      if (failure instanceof Error) expect(failure).to.include({ status: 400 });
      else expect(page.agent.pendingInterrupts).to.have.length(1);
    });

  it('has no effect twice when an answer is sent again', async () => {
    const { page, paid, answer } = paying();
    await page.ask('Pay');
    const interrupts = [...page.agent.pendingInterrupts];
    await answer({ approved: true });

    page.agent.pendingInterrupts = interrupts;
    await answer({ approved: true }).catch(() => undefined);

    expect(paid).to.deep.equal([7]);
  });
});

describe('random turns by AG-UI', () => {
  /** Answers interrupts, and calls of the page's tools at once with them or afterwards, until the turn ends. */
  async function answerAll(page: Reader, random: Random): Promise<void> {
    for (;;) {
      const { metadata } = page.last() as { metadata?: { turn?: string; clientTools?: readonly { toolCallId: string }[] } }; // prettier-ignore
      const { clientTools = [] } = metadata ?? {};
      const { pendingInterrupts: asked } = page.agent;
      const turn = metadata?.turn ?? asked[0]?.metadata?.['turn'];
      if (asked.length === 0 && clientTools.length === 0) return;
      if (asked.length === 0 || random.chance(0.5))
        for (const { toolCallId } of clientTools)
          page.agent.addMessage({ id: `o-${toolCallId}`, role: 'tool', toolCallId, content: '{"city":"Rome"}', metadata: { turn } }); // prettier-ignore
      const resume = asked.map(({ id }) => ({
        interruptId: id,
        status: 'resolved' as const,
        payload: { approved: random.chance(0.6) },
        metadata: { turn },
      }));
      await page.run(asked.length > 0 ? { resume } : {});
    }
  }

  it('have each text, call and result that stands once, over approvals, tools of the page and retries', async function () {
    this.timeout(60_000);
    for (let seed = 0; seed < 60; seed++) {
      const random = new Random(seed);
      const { answers, called, text } = anyTurn(random);
      const page = twoUsers(answers, ...Object.values(TOOLS)).pageOf('anna');

      await page.ask('Q');
      await answerAll(page, random);

      const { messages } = page.agent;
      const texts = messages.map(({ role, content }) => (role === 'assistant' ? content : ''));
      const made = messages.flatMap((each) => (each.role === 'assistant' ? (each.toolCalls ?? []) : [])); // prettier-ignore
      const results = messages.flatMap((each) => (each.role === 'tool' ? [each.toolCallId] : []));
      expect(texts.join(''), `seed ${seed}`).to.equal(text);
      expect(made.map((each) => each.function.name), `seed ${seed}`).to.deep.equal(called); // prettier-ignore
      expect(results, `seed ${seed}`).to.have.members(made.map(({ id }) => id));
    }
  });
});
