import { expect } from 'chai';
import { z } from 'zod';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  GuardAdvisor,
  KeyValueError,
  ModelCallError,
  RetryAdvisor,
  StructuredOutputAdvisor,
  TimeoutAdvisor,
  wordRule,
  type Advisor,
  type PausedTurn,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { pauseOptions } from '../../support/paused-turns.js';

const PAYS = { toolCalls: [{ id: 'a', name: 'pay', arguments: {} }] };
const DOWN = { error: new ModelCallError('down', { status: 503, retryable: true }) };

/** A client whose payments need a person. */
function setUp(script: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]) {
  let payments = 0;
  const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `paid ${++payments}` });
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(pay)
    .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }), ...advisors)
    .build();
  return { client, model, payments: () => payments };
}

const allow = ({ requests }: PausedTurn) =>
  Object.fromEntries(requests.map(({ id }) => [id, { type: 'allow' as const }]));

/** Fails once with an error, behind an answer or around a tool. */
function failingOnce(at: 'after' | 'aroundTool', error: Error): Advisor {
  let isDown = true;
  const fail = (): void => {
    if (!isDown) return;
    isDown = false;
    throw error;
  };
  return at === 'after'
    ? defineAdvisor({
        name: 'fails',
        order: 8_000,
        after: (_, request) => (request.iteration > 0 ? fail() : undefined),
      })
    : defineAdvisor({
        name: 'fails',
        order: AdvisorOrder.DURABLE - 50, // between the decision and the record
        aroundTool: (call, next) => {
          fail();
          return next(call);
        },
      });
}

const ok = z.object({ ok: z.boolean() });
const objectOf = (mode: Mode, spec: PromptSpec): Promise<z.infer<typeof ok>> =>
  mode === 'call' ? spec.call().entity(ok) : spec.stream().entity(ok);
const structured = (): Advisor => new StructuredOutputAdvisor({ maxRepeats: 1 });
const forbidden = (): Advisor =>
  new GuardAdvisor({ output: [{ rules: wordRule({ words: ['secret'] }), action: 'throw' }] });
const storeIsDown = (): Error =>
  new KeyValueError({ operation: 'set', key: 'k', outcome: 'unchanged', cause: new Error('down') });

/** Name, advisors, answers of the resumed turn that fails, and of the next one, and the requests to the model in all. */
const CASES: readonly (readonly [
  name: string,
  advisors: () => readonly Advisor[],
  failing: readonly ScriptedAnswer[],
  next: readonly ScriptedAnswer[],
])[] = [
  ['a model that is down', () => [], [DOWN], ['{"ok":true}']],
  ['a model that takes too long', () => [new TimeoutAdvisor({ iteration: 20 })], [{ text: 'Slow.', delay: 200 }], ['{"ok":true}']], // prettier-ignore
  ['answers without an object', () => [structured()], ['No.', 'Still no.'], ['{"ok":true}']],
  ['an answer without an object and a model that is down', () => [structured()], ['No.', DOWN], ['{"ok":true}']], // prettier-ignore
  ['an answer that a guard refuses', () => [forbidden()], ['A secret.'], ['{"ok":true}']],
  ['an error of an advisor of one’s own', () => [failingOnce('after', new Error('bad'))], ['No.'], ['{"ok":true}']], // prettier-ignore
  ['a retry that was in vain', () => [new RetryAdvisor({ maxRetries: 1, firstDelay: 1 })], [DOWN, DOWN], ['{"ok":true}']], // prettier-ignore
  ['a store that is down behind the answer, which stays', () => [failingOnce('after', storeIsDown())], ['{"ok":true}'], []], // prettier-ignore
];

for (const mode of MODES)
  describe(`a resumed turn that fails (${mode})`, () => {
    for (const [name, advisors, failing, next] of CASES)
      it(`[D94] can be resumed after ${name}, and pays once`, async () => {
        const { client, model, payments } = setUp([PAYS, ...failing, ...next], ...advisors());
        const { paused } = await runSpec(mode, client.prompt('Pay.'));
        const decisions = paused ? allow(paused) : {};
        const { state = '' } = paused ?? {};
        const failure = await failureOf(objectOf(mode, client.resume(state, decisions)));
        const rest = (failure as { readonly paused?: PausedTurn }).paused;

        const object = await objectOf(mode, client.resume(rest?.state ?? '', {}));

        expect(object).to.deep.equal({ ok: true });
        const asked = 1 + failing.length + next.length;
        expect([payments(), model.prompts.length]).to.deep.equal([1, asked]);
      });

    for (const error of [new Error('bad'), storeIsDown()])
      it(`[D94] makes a call that a person has allowed after "${error.message}" around it`, async () => {
        const { client, model, payments } = setUp(
          [PAYS, 'Done.'],
          failingOnce('aroundTool', error),
        );
        const { paused } = await runSpec(mode, client.prompt('Pay.'));
        const decisions = paused ? allow(paused) : {};
        const { state = '' } = paused ?? {};
        const failure = await failureOf(runSpec(mode, client.resume(state, decisions)));
        const rest = (failure as { readonly paused?: PausedTurn }).paused;

        const { text } = await runSpec(mode, client.resume(rest?.state ?? '', {}));

        expect([text, payments(), model.prompts.length]).to.deep.equal(['Done.', 1, 2]);
      });
  });
