import type { Mistake } from './mistake.js';

const CLIENT =
  "const shop = ChatClient.builder(asksFor('refund', { order: 1 })).defaultTools(refund).defaultAdvisors(new ApprovalAdvisor({ pause: { secrets, store: new InMemoryKeyValueStore() } })).build();";
const PAUSED = `${CLIENT} const { paused } = await shop.prompt('Hi').call().chatResponse(); const id = paused?.id ?? '';`;

/** Mistakes with approvals, paused turns and durable turns. */
export const APPROVALS: readonly Mistake[] = [
  {
    title: 'an ApprovalAdvisor without people',
    code: `ChatClient.builder(model).defaultTools(refund).defaultAdvisors(new ApprovalAdvisor()).build();`,
    run: 'has no person to ask about "refund": give it decide or pause, or add a DurableAdvisor',
  },
  {
    title: 'true in place of a decision',
    code: `await ChatClient.builder(asksFor('refund', { order: 1 })).defaultTools(refund).defaultAdvisors(new ApprovalAdvisor({ decide: () => true })).build().prompt('Hi').call().content();`,
    tsc: `Type 'boolean' is not assignable to type`,
    run: `the result of decide on "refund" must be a decision, such as { type: 'allow' }`,
  },
  {
    title: 'true in place of a verdict',
    code: `new ApprovalAdvisor({ policy: { refund: true }, decide: 'elsewhere' });`,
    tsc: `Type 'true' is not assignable to type 'PolicyFunction`,
    run: `policy["refund"] must be 'allow', 'ask', 'deny' or an object { type: 'allow' | 'deny' | 'ask' | 'edit' }, not true`,
  },
  {
    title: 'a policy for a tool that is not there',
    code: `await ChatClient.builder(model).defaultTools(refund).defaultAdvisors(new ApprovalAdvisor({ policy: { refnd: 'ask' }, decide: 'elsewhere' })).build().prompt('Hi').call().content();`,
    run: 'the policy of "approval" has a rule for "refnd", which the request does not have: correct the name, or remove the rule',
  },
  {
    title: 'no secrets',
    code: `new ApprovalAdvisor({ pause: { store: new InMemoryKeyValueStore() } });`,
    tsc: `Property 'secrets' is missing`,
    run: 'pause: secrets must be a text of at least 32 characters',
  },
  {
    title: 'secret in place of secrets',
    code: `new ApprovalAdvisor({ pause: { secret: 'x'.repeat(32), store: new InMemoryKeyValueStore() } });`,
    tsc: `Did you mean to write 'secrets'?`,
    run: 'pause: secrets must be a text of at least 32 characters',
  },
  {
    title: 'a short secret',
    code: `new ApprovalAdvisor({ pause: { secrets: 'secret', store: new InMemoryKeyValueStore() } });`,
    run: 'secrets must be a text of at least 32 characters, as many bytes, or an array of such, the newest first, not a text of 6',
  },
  {
    title: 'no store',
    code: `new ApprovalAdvisor({ pause: { secrets } });`,
    tsc: `Property 'store' is missing`,
    run: 'pause: store must be a KeyValueStore',
  },
  {
    title: 'the text of a turn that waits',
    code: `${CLIENT} await shop.prompt('Hi').call().content();`,
    run: 'TurnPausedError: The turn waits for decisions on "refund"; ask for chatResponse() or events() to see its requests, or read error.paused, then call client.resume(paused.id, decisions).',
  },
  {
    title: 'resume without decisions',
    code: `${PAUSED} await shop.resume(id).call().content();`,
    run: 'TurnPausedError: The turn waits for decisions on "refund"',
  },
  {
    title: 'resume of a client that does not pause turns',
    code: `await client.resume('some-id').call().content();`,
    run: 'no advisor of the client pauses turns; add the ApprovalAdvisor with which the turn was paused',
  },
  {
    title: 'resume of a text that is no id',
    code: `${CLIENT} await shop.resume('some-id').call().content();`,
    run: 'The text is not the state of a paused turn: give the id or the state in response.paused.',
  },
  {
    title: 'resume of a whole paused turn',
    code: `${PAUSED} if (paused) shop.resume(paused);`,
    tsc: `Argument of type 'PausedTurn' is not assignable to parameter of type 'string'`,
    run: 'resume(…): the id or state of the paused turn must be a non-blank string, not an object',
  },
  {
    title: 'the name of a tool as the id of a request',
    code: `${PAUSED} await shop.resume(id, { refund: { type: 'allow' } }).call().content();`,
    run: 'PausedStateError: Request "refund": the turn does not wait for it, but for "',
  },
  {
    title: 'a list of decisions',
    code: `client.resume('id', [{ type: 'allow' }]);`,
    tsc: `is not assignable to parameter of type`,
    run: 'resume(…): decisions must be a plain object, not an array of 1',
  },
  {
    title: 'true in place of a decision on a request',
    code: `client.resume('id', { request: true });`,
    tsc: `Type 'boolean' is not assignable to type 'Decision'`,
    run: 'decisions["request"]: the decision must be a plain object, not true',
  },
  {
    title: 'approve in place of allow',
    code: `client.resume('id', { request: { type: 'approve' } });`,
    tsc: `Type '"approve"' is not assignable to type '"allow" | "answer" | "cancel" | "deny" | "edit"'`,
    run: `type must be 'allow', 'deny', 'edit', 'answer' or 'cancel', not "approve"`,
  },
  {
    title: 'a turn resumed twice',
    code: `${PAUSED} const decisions = paused ? approveAll(paused) : {}; await shop.resume(id, decisions).call().content(); await shop.resume(id, decisions).call().content();`,
    run: 'its turn has ended.',
  },
  {
    title: 'a question with resume',
    code: `client.resume('id').user('And?');`,
    run: 'user(…): a resumed turn keeps the messages and id of its state; remove the call, or steer the turn',
  },
  {
    title: 'pending turns of a client that does not pause them',
    code: `await client.pending('anna-7');`,
    run: 'pending(…): no advisor of the client pauses turns; add the ApprovalAdvisor with which the turn was paused',
  },
  {
    title: 'a durable turn without an engine',
    code: `new DurableAdvisor();`,
    tsc: 'Expected 1 arguments, but got 0',
    run: 'engine must be a DurableEngine with step, sleep and waitFor, such as dbosEngine, or a function, not undefined',
  },
  {
    title: 'the address of a database as an engine',
    code: `new DurableAdvisor({ engine: 'postgres://127.0.0.1/app' });`,
    tsc: `Type 'string' is not assignable to type 'DurableEngine | EngineOfTurn'`,
    run: 'engine must be a DurableEngine with step, sleep and waitFor, such as dbosEngine, or a function, not "postgres://127.0.0.1/app"',
  },
];
