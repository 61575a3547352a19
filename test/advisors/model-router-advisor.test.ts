import { expect } from 'chai';
import { tap } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  InvalidArgumentError,
  modelRouter,
  ModelRouterAdvisor,
  ObservabilityAdvisor,
  PromptedToolsModel,
  type ChatEvent,
  type ModelNeeds,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { planOf } from '../support/prompted-tools.js';
import { recordSpans } from '../support/recorded-spans.js';

const model = (
  name: string,
  script: Script = () => ({ text: `I am ${name}.`, model: name }),
): ScriptedChatModel => new ScriptedChatModel(script, { model: name });
const scripted = model('main');
const noop = defineTool({ name: 'noop', execute: () => 'done' });

describe('ModelRouterAdvisor', () => {
  for (const [options, message] of [
    [{ models: undefined }, 'models must be an object with at least one chat model, not undefined'],
    [{ models: {} }, 'models must be an object with at least one chat model, not an object'],
    [{ models: { a: 1 } }, 'models.a must be a chat model with call and stream, not 1'],
    [{ choose: undefined }, 'choose must be a function, not undefined'],
    [{ choose: 'a' }, 'choose must be a function, not "a"'],
    [{ name: '' }, 'name must be a non-blank string, not ""'],
    [{ order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      const valid = { models: { a: scripted }, choose: () => 'a' as const };

      expect(() => new ModelRouterAdvisor({ ...valid, ...options } as never)).to.throw(
        InvalidArgumentError,
        `ModelRouterAdvisor: ${message}`,
      );
    });

  for (const mode of MODES) {
    it(`${mode}: sends the turn to the chosen model, visible in events, ledger and spans`, async () => {
      const events: ChatEvent[] = [];
      const recording = recordSpans();
      const router = modelRouter({
        models: { small: model('small'), large: model('large') },
        choose: ({ characters }) => (characters > 10 ? 'large' : 'small'),
      });
      const client = ChatClient.builder(scripted)
        .defaultAdvisors(new ObservabilityAdvisor({ tracer: recording.tracer }), router, {
          name: 'events',
          order: 1,
          advise: (request, chain) =>
            chain.next(request).pipe(tap((each) => void events.push(each))),
        })
        .build();

      const short = await runSpec(mode, client.prompt('Hi.'));
      const long = await runSpec(mode, client.prompt('A longer question.'));

      expect([short.text, long.text]).to.deep.equal(['I am small.', 'I am large.']);
      const names = events.flatMap((each) => (each.type === 'iteration-start' ? [each.model] : []));
      expect(names).to.deep.equal(['small', 'large']);
      expect(long.run?.ledger.map((call) => call.model)).to.deep.equal(['large']);
      const requested = recording.spans.map(({ attributes }) => attributes['gen_ai.request.model']);
      expect(requested).to.include.members(['small', 'large']);
    });

    it(`${mode}: chooses for each iteration inside the loop`, async () => {
      const main = model('main', [{ toolCalls: [{ name: 'noop' }] }]);
      const router = modelRouter({
        models: { other: model('other') },
        choose: (_needs, { iteration }) => (iteration > 0 ? 'other' : undefined),
        order: AdvisorOrder.TOOL_CALLING + 1,
      });

      const spec = ChatClient.create(main).prompt('?').tools(noop).advisors(router);

      expect((await runSpec(mode, spec)).text).to.equal('I am other.');
      expect(main.prompts).to.have.lengthOf(1);
    });

    for (const name of ['medium', 'toString', '__proto__', 7])
      it(`${mode}: rejects the unknown model ${JSON.stringify(name)}`, async () => {
        const router = modelRouter({ models: { a: scripted }, choose: () => name as 'a' });

        const failure = await failureOf(
          runSpec(mode, ChatClient.create(scripted).prompt('?').advisors(router)),
        );

        expect(failure).to.be.instanceOf(InvalidArgumentError);
        expect(String(failure)).to.include(
          `advisor "model-router": choose must return one of "a" or undefined, not ${JSON.stringify(name)}`,
        );
      });

    it(`${mode}: ends with a choice that fails`, async () => {
      const error = new Error('no budget');
      const router = modelRouter({ models: { a: scripted }, choose: () => Promise.reject(error) });

      expect(
        await failureOf(runSpec(mode, ChatClient.create(scripted).prompt('?').advisors(router))),
      ).to.equal(error);
    });

    it(`${mode}: a choice that never ends is cancelled with its run`, async () => {
      const abort = new AbortController();
      const router = modelRouter({
        models: { a: scripted },
        choose: () => {
          queueMicrotask(() => abort.abort());
          return new Promise<undefined>(() => undefined);
        },
      });

      const spec = ChatClient.create(scripted).prompt('?').advisors(router).signal(abort.signal);

      expect(await failureOf(runSpec(mode, spec))).to.include({ code: 'cancelled' });
    });
  }

  it('knows what a request needs', async () => {
    const needs: ModelNeeds[] = [];
    const router = modelRouter({
      models: { a: model('a', () => '{"b":1}') },
      choose: (each) => {
        needs.push(each);
        return 'a';
      },
    });
    const client = ChatClient.builder(scripted).defaultAdvisors(router).build();
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;

    await client.prompt('Hi.').call().content();
    await client
      .prompt()
      .system('Be.')
      .messages(
        { role: 'user', content: [{ type: 'text', text: 'See' }, image] },
        {
          role: 'assistant',
          content: null,
          toolCalls: [{ id: '1', name: 'noop', arguments: '{"a":1}' }],
        },
        { role: 'tool', toolCallId: '1', toolName: 'noop', content: 'ok' },
      )
      .user('Hi.')
      .tools(noop)
      .call()
      .content();
    await client.prompt('Hi.').call().entity({ type: 'object' });
    await client
      .prompt('Hi.')
      .options({ responseFormat: { schema: {} } })
      .call()
      .content();

    const none = { characters: 3, media: false, tools: false, schema: false };
    expect(needs).to.deep.equal([
      none,
      { characters: 18, media: true, tools: true, schema: false },
      { ...none, schema: true },
      { ...none, schema: true },
    ]);
  });

  it('tools go by text to a model without tool calling', async () => {
    const plain = model('plain', [planOf('json', 'noop', {}), 'Done.']);
    const router = modelRouter({
      models: { plain: new PromptedToolsModel({ model: plain }) },
      choose: () => 'plain',
    });

    const text = await ChatClient.create(scripted)
      .prompt('?')
      .tools(noop)
      .advisors(router)
      .call()
      .content();

    expect(text).to.equal('Done.');
  });
});
