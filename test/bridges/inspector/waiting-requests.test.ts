import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  type Advisor,
  type Decision,
  type PendingRequest,
} from '../../../src/index.js';
import { Inspector } from '../../../src/bridges/inspector/inspector.js';
import { textOf } from '../../../src/core/chat/message.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { InspectedClient } from '../../support/inspected-client.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { until } from '../../support/promises.js';
import { withoutVariable } from '../../support/without-variable.js';

/** A person of the application, with what was asked and the signals of the questions. */
class Person {
  readonly asked: PendingRequest[] = [];
  readonly signals: AbortSignal[] = [];
  answer: (decision: Decision) => void = () => undefined;

  readonly advisor = (): Advisor =>
    new ApprovalAdvisor({
      decide: (request, { signal }) => {
        this.asked.push(request);
        this.signals.push(signal);
        return new Promise((resolve) => (this.answer = resolve));
      },
    });
}

/** Calls a tool, and answers with its result. */
const calls = (name: string, args: Readonly<Record<string, unknown>>) =>
  new ScriptedChatModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool'
      ? textOf(last.content)
      : { toolCalls: [{ name, arguments: args }] };
  });

function paying() {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    input: { type: 'object', properties: { amount: { type: 'number' } } },
    effect: 'write',
    execute: (input) => {
      paid.push(input);
      return 'Paid.';
    },
  });
  const person = new Person();
  const inspector = new Inspector();
  const client = ChatClient.builder(calls('pay', { amount: 12 }))
    .defaultTools(pay)
    .defaultAdvisors(inspector, person.advisor())
    .build();
  return { paid, person, inspector, client, page: new InspectedClient(client, {}, inspector) };
}

/** The turn at a place of the list, when it waits for a person. */
async function waitingTurn(page: InspectedClient, at = 0) {
  const turn = () => page.inspector.turn(page.inspector.turns()[at]?.id ?? '');
  await until(() => (turn()?.pending.length ?? 0) > 0);
  const { id, outcome, pending } = await page.turn(turn()?.id ?? '');
  expect(outcome).to.equal('running');
  const [request] = pending;
  return { id, request, path: `/api/turns/${id}/decisions`, key: request?.id ?? '' };
}

describe('a request for which a function of the application waits, in the page of an inspector', () => {
  withoutVariable('NODE_ENV');

  for (const mode of MODES)
    it(`is decided there, and the signal of the function is aborted (${mode})`, async () => {
      const { client, page, paid, person } = paying();
      const running = runSpec(mode, client.prompt('Pay').conversation('c'));
      const { id, request, path, key } = await waitingTurn(page);
      const marked = page.inspector.turns()[0]?.isWaiting;

      const decided = await page.post(path, { [key]: { type: 'edit', arguments: { amount: 10 } } });

      expect(decided.json).to.deep.equal({ id });
      expect((await running).text).to.equal('Paid.');
      expect(request).to.deep.include({ type: 'approval', toolName: 'pay', arguments: { amount: 12 } }); // prettier-ignore
      expect(paid).to.deep.equal([{ amount: 10 }]);
      expect(person.signals[0]?.aborted).to.equal(true);
      expect(marked).to.equal(true);
      expect(page.inspector.turns()[0]).not.to.have.property('isWaiting');
      expect((await page.turn(id)).pending).to.deep.equal([]);
      expect((await page.post(path, { [key]: { type: 'allow' } })).status).to.equal(409);
    });

  it('is over when the application decides first, whose signal is not aborted', async () => {
    const { client, page, paid, person } = paying();
    const running = client.prompt('Pay').call().content();
    const { id } = await waitingTurn(page);

    person.answer({ type: 'deny', reason: 'Too much.' });

    expect(await running).to.include('Too much.');
    expect(paid).to.deep.equal([]);
    expect(person.signals[0]?.aborted).to.equal(false);
    expect((await page.turn(id)).pending).to.deep.equal([]);
  });

  it('keeps waiting after a decision that does not fit', async () => {
    const { client, page, paid, person } = paying();
    const running = client.prompt('Pay').call().content();
    const { path, key } = await waitingTurn(page);

    for (const decision of [
      true,
      { type: 'pay' },
      { type: 'answer', value: 1 },
      { type: 'allow', scope: 'always' },
    ])
      // prettier-ignore
      expect((await page.post(path, { [key]: decision })).status).to.equal(400);
    expect((await page.post(path, { other: { type: 'allow' } })).status).to.equal(409);

    expect(paid).to.deep.equal([]);
    expect(person.asked).to.have.length(1);
    await page.post(path, { [key]: { type: 'allow' } });
    expect(await running).to.equal('Paid.');
  });

  it('is there again, with the problem, after arguments that the tool refuses', async () => {
    const { client, page, paid } = paying();
    const running = client.prompt('Pay').call().content();
    const { path, key } = await waitingTurn(page);

    await page.post(path, { [key]: { type: 'edit', arguments: { amount: 'much' } } });
    await until(() => page.inspector.turn(page.inspector.turns()[0]?.id ?? '')?.pending[0]?.id !== key); // prettier-ignore
    const again = await waitingTurn(page);
    await page.post(path, { [again.key]: { type: 'allow' } });

    expect(again.request?.problem).to.include('amount');
    expect(await running).to.equal('Paid.');
    expect(paid).to.deep.equal([{ amount: 12 }]);
  });

  it('is of the turn of an agent, and of the turn around it', async () => {
    const { client: agent, page, paid, inspector } = paying();
    const outer = ChatClient.builder(calls('payer', { message: 'Pay!' }))
      .defaultTools(agentTool(agent, { name: 'payer', description: 'Pays.', effect: 'read' }))
      .defaultAdvisors(inspector)
      .build();
    const running = outer.prompt('Pay').call().content();
    const within = await waitingTurn(page, 1);
    const around = await waitingTurn(page, 0);

    expect(around.key).to.equal(within.key);
    await page.post(around.path, { [around.key]: { type: 'allow' } });

    expect(await running).to.include('Paid.');
    expect(paid).to.have.length(1);
  });

  it('is shown alone if the handler has no client, and so is its turn', async () => {
    const { client, inspector, paid, person } = paying();
    const running = client.prompt('Pay').call().content();
    const page = new InspectedClient(undefined, {}, inspector);
    const { id, path, key } = await waitingTurn(page);

    const decided = await page.post(path, { [key]: { type: 'allow' } });
    const cancelled = await page.post(`/api/turns/${id}/cancel`, {});

    for (const { status, json } of [decided, cancelled]) {
      expect(status).to.equal(409);
      expect(json).to.have.nested.property('error.code', 'no_client');
    }
    person.answer({ type: 'deny' });
    expect(await running).to.include('denied');
    expect(paid).to.deep.equal([]);
  });

  it('is gone when the turn is cancelled', async () => {
    const { client, page, paid } = paying();
    const failure = failureOf(client.prompt('Pay').call().content());
    const { id, path, key } = await waitingTurn(page);

    await page.post(`/api/turns/${id}/cancel`, {});

    expect(await failure).to.include({ code: 'cancelled' });
    expect((await page.turn(id)).pending).to.deep.equal([]);
    expect((await page.post(path, { [key]: { type: 'allow' } })).status).to.equal(409);
    expect(paid).to.deep.equal([]);
  });
});
