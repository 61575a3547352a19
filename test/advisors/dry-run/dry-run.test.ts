import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  dryRun,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  Prompt,
  ToolCallingManager,
  ToolError,
  ToolLedgerAdvisor,
  toolCallingAutoRegister,
  toolResult,
  type Advisor,
  type DryRunEvent,
  type Tool,
  type ToolEffect,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const call = (name: string, args: object = {}) => ({ name, arguments: { ...args } });

/** A tool of each effect, and the names of those that ran. */
function tools(options: { readonly returnDirect?: boolean } = {}) {
  const ran: string[] = [];
  const effects: readonly (ToolEffect | undefined)[] = ['read', 'idempotent', 'write', undefined];
  const made = effects.map((effect): Tool => {
    const name = effect ?? 'undeclared';
    const input = { type: 'object' } as const;
    return defineTool({ name, effect, input, ...options, execute: () => ran.push(name) });
  });
  return { ran, made };
}

const clientOf = (script: Script, made: readonly Tool[], ...advisors: readonly Advisor[]) =>
  ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(...made)
    .defaultAdvisors(...advisors)
    .build();

const ALL = ['read', 'idempotent', 'write', 'undeclared'].map((name) => call(name, { a: 1 }));
const REFUSED = 'Not run: this is a dry run, in which nothing is changed.';

describe('dryRun', () => {
  for (const [options, message] of [
    [{ recording: 'x' }, 'recording must be an array of calls with their results, not "x"'],
    [{ recording: [null] }, 'recording must be an array of calls with their results, not an array'],
    [{ recording: [{ result: { content: 'x' } }] }, 'recording must be an array of calls'],
    [{ answer: 'x' }, 'answer must be a function, not "x"'],
    [{ reads: 'no' }, "reads must be 'run' or 'simulate', not \"no\""],
  ] as const)
    it(`rejects ${message}`, () => {
      expect(() => dryRun(options as never)).to.throw(InvalidArgumentError, `dryRun: ${message}`);
    });

  for (const mode of MODES) {
    it(`${mode}: runs only tools that read, and refuses the others`, async () => {
      const { ran, made } = tools();
      const client = clientOf([{ toolCalls: ALL }, 'Done.'], made, dryRun());

      const { steps } = await runSpec(mode, client.prompt('?'));

      expect(ran).to.deep.equal(['read']);
      const contents = steps[0]?.toolCalls.map(({ result }) => result?.content);
      expect(contents).to.deep.equal(['1', REFUSED, REFUSED, REFUSED]);
    });

    it(`${mode}: simulates tools that read, too, if it should`, async () => {
      const { ran, made } = tools();
      const client = clientOf([{ toolCalls: ALL }, 'Done.'], made, dryRun({ reads: 'simulate' }));

      await runSpec(mode, client.prompt('?'));

      expect(ran).to.deep.equal([]);
    });

    it(`${mode}: answers by the recording of an earlier run, and by a function`, async () => {
      const real = tools();
      const payments = [call('write', { cents: 5 }), call('write', { cents: 5 })];
      const earlier = await runSpec(
        mode,
        clientOf([{ toolCalls: payments }, 'Done.'], real.made).prompt('?'),
      );
      const { ran, made } = tools();
      const recording = earlier.steps.flatMap(({ toolCalls }) => toolCalls);
      const script = [
        { toolCalls: [...payments, ...payments.slice(1), call('write', { cents: 6 })] },
        'Done.',
      ];
      const dry = dryRun({
        recording,
        answer: ({ arguments: args }) => ({ paid: (args as { cents: number }).cents }),
      });

      const { steps } = await runSpec(mode, clientOf(script, made, dry).prompt('?'));

      const contents = steps[0]?.toolCalls.map(({ result }) => result?.content);
      expect(contents).to.deep.equal(['1', '2', '2', '{"paid":6}']);
      expect(ran).to.deep.equal([]);
    });

    it(`${mode}: covers return-direct tools`, async () => {
      const { ran, made } = tools({ returnDirect: true });
      const dry = dryRun({ answer: () => 'Simulated.' });

      const { text } = await runSpec(
        mode,
        clientOf([{ toolCalls: [call('write')] }], made, dry).prompt('?'),
      );

      expect([text, ran]).to.deep.equal(['Simulated.', []]);
    });
  }

  it('covers a loop by hand', async () => {
    const { ran, made } = tools();
    const client = clientOf([{ toolCalls: ALL }], made, dryRun());
    const spec = client.prompt('?').advisors(toolCallingAutoRegister(false));
    const response = await spec.call().chatClientResponse();

    const { results } = await new ToolCallingManager().executeToolCalls(
      new Prompt('?'),
      response.chatResponse,
      response.tools(),
    );

    expect(ran).to.deep.equal(['read']);
    expect(results.filter(({ result }) => result.isError)).to.have.length(3);
  });

  it('covers a tool loop of an advisor', async () => {
    const { ran, made } = tools();
    const manager = new ToolCallingManager();
    const loop: Advisor = {
      name: 'own loop',
      order: AdvisorOrder.TOOL_CALLING,
      role: 'tool-loop',
      around: async (request, next, chain) => {
        const response = await next(request);
        const run = chain.tools(request);
        const { prompt } = await manager.executeToolCalls(
          request.prompt,
          response.chatResponse,
          run,
        );
        return next(request.withPrompt(prompt));
      },
    };

    await clientOf([{ toolCalls: ALL }, 'Done.'], made, loop, dryRun())
      .prompt('?')
      .call()
      .content();

    expect(ran).to.deep.equal(['read']);
  });

  it('gives a failure of the function to the model, if it is a ToolError', async () => {
    const answers = [
      () => toolResult({ content: 'No money.', isError: true }),
      () => {
        throw new ToolError('No money.');
      },
    ];
    for (const answer of answers) {
      const client = clientOf(
        [{ toolCalls: [call('write')] }, 'Done.'],
        tools().made,
        dryRun({ answer }),
      );
      const { steps } = await client.prompt('?').call().chatClientResponse();

      expect(steps[0]?.toolCalls[0]?.result).to.include({ content: 'No money.', isError: true });
    }
  });

  it('reports each call that was not made', async () => {
    const { made } = tools();
    const client = clientOf([{ toolCalls: [call('write', { a: 1 })] }, 'Done.'], made, dryRun());
    const events: DryRunEvent[] = [];
    for await (const event of client.prompt('?').stream().events())
      if (event.type === 'custom' && event.name === 'dry-run') events.push(event.data);

    expect(events).to.have.length(1);
    expect(events[0]).to.deep.include({
      toolName: 'write',
      arguments: { a: 1 },
      answeredBy: 'refusal',
    });
  });

  it('leaves nothing in a ledger, and is warned of inside one', async () => {
    const store = new InMemoryKeyValueStore();
    const { ran, made } = tools();
    const turn = (...advisors: readonly Advisor[]) =>
      clientOf([{ toolCalls: [call('write')] }, 'Done.'], made, ...advisors)
        .prompt('?')
        .turnId('t');
    const ledger = new ToolLedgerAdvisor({ store });
    const dry = dryRun({ answer: () => 'Simulated.' });
    await turn(ledger, dry).call().content();
    await turn(ledger).call().content();

    expect(ran).to.deep.equal(['write']);
    expect(turn(ledger, dry).explain().warnings).to.deep.equal([]);
    const inside = dryRun({ order: AdvisorOrder.LOGGER + 600 });
    expect(turn(ledger, inside).explain().warnings.join()).to.match(/"dry-run" simulates/);
  });
});
