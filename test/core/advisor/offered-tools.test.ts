import { expect } from 'chai';
import { catchError, retry } from 'rxjs';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  ToolCallingAdvisor,
  ToolCallingManager,
  toolResult,
  type Advisor,
  type ChatClientRequest,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { OpenAIChatModel, type OpenAIClient } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, type Script, type ScriptedAnswer } from '../../../src/testing/index.js';
import { INSIDE, look } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const fresh = defineTool({
  name: 'fresh',
  execute: (_input, context) => `fresh for ${String(context.values['tenant'])}`,
});

const adding = (...tools: readonly Tool[]): Advisor =>
  defineAdvisor({
    name: 'adding',
    order: INSIDE + 1,
    before: (request) => request.withTools([...request.tools, ...tools]),
  });

const inside = (name: string, advise: NonNullable<Advisor['advise']>): Advisor => ({
  name,
  order: INSIDE,
  advise,
});

const call = (...names: readonly string[]): ScriptedAnswer => ({
  toolCalls: names.map((name) => ({ id: `call-${name}`, name })),
});

const offered = (model: ScriptedChatModel): readonly string[] =>
  model.prompts.map(({ options }) =>
    (options.tools ?? []).map(({ definition }) => definition.name).join(' '),
  );

/** Contents of the tool results in the last request. */
const results = (model: ScriptedChatModel): readonly unknown[] =>
  (model.prompts.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? [message.content] : [],
  );

describe('tools offered by an advisor inside the loop', () => {
  for (const mode of MODES)
    describe(mode, () => {
      const script: Script = [call('fresh'), 'done'];
      const specOf = (model: ScriptedChatModel, ...advisors: readonly Advisor[]): PromptSpec =>
        ChatClient.create(model)
          .prompt('q')
          .tools(look)
          .toolContext({ tenant: 'acme' })
          .advisors(...advisors);

      it('[D2] run, in every iteration', async () => {
        const model = new ScriptedChatModel(script);
        await runSpec(mode, specOf(model, adding(fresh)));

        expect(offered(model)).to.deep.equal(['look fresh', 'look fresh']);
        expect(results(model)).to.deep.equal(['fresh for acme']);
      });

      it('[D2] run with the tool context that the advisor has added', async () => {
        const model = new ScriptedChatModel(script);
        const advisor = defineAdvisor({
          name: 'adding',
          order: INSIDE,
          before: (r) => r.withOptions({ tools: [fresh], toolContext: { tenant: 'inner' } }),
        });
        await runSpec(mode, specOf(model, advisor));

        expect(results(model)).to.deep.equal(['fresh for inner']);
      });

      it('[D2] run after a retry, and after a fallback that has other tools', async () => {
        const again = inside('again', (r, chain) => chain.next(r).pipe(retry(1)));
        const model = new ScriptedChatModel([new Error('busy'), ...(script as [])]);
        await runSpec(mode, specOf(model, again, adding(fresh)));
        expect(results(model)).to.deep.equal(['fresh for acme']);

        const fallback = inside('fallback', (request, chain) =>
          chain
            .next(request)
            .pipe(catchError(() => chain.next(request.withTools([...request.tools, fresh])))),
        );
        const second = new ScriptedChatModel([new Error('busy'), ...(script as [])]);
        await runSpec(mode, specOf(second, fallback));
        expect(offered(second)).to.deep.equal(['look', 'look fresh', 'look']);
        expect(results(second)).to.deep.equal(['fresh for acme']);
      });

      it('[D2] are unknown if the answer was asked for without them', async () => {
        const fallback = inside('fallback', (request, chain) =>
          chain.next(request).pipe(catchError(() => chain.next(request.withTools([look])))),
        );
        const model = new ScriptedChatModel([new Error('busy'), ...(script as [])]);
        const client = ChatClient.create(model).prompt('q').tools(look, fresh);
        await runSpec(mode, client.advisors(fallback));

        expect(results(model)[0]).to.match(/There is no tool "fresh". Tools you can call: look\./);
      });

      it('[D2] run when a result unlocks them', async () => {
        const deferred = { ...fresh, metadata: { ...fresh.metadata, deferred: true } };
        const unlock = defineTool({
          name: 'unlock',
          execute: () => toolResult({ content: 'ok', unlocks: ['fresh'] }),
        });
        const model = new ScriptedChatModel([call('unlock'), ...(script as [])]);
        await runSpec(mode, specOf(model, adding(unlock, deferred)));

        expect(offered(model)).to.deep.equal([
          'look unlock',
          'look unlock fresh',
          'look unlock fresh',
        ]);
        expect(results(model)).to.deep.equal(['ok', 'fresh for acme']);
      });

      it('[D2] with the name of another tool are refused with both sources', async () => {
        const model = new ScriptedChatModel(['never']);
        const advisors = [
          defineAdvisor({
            name: 'a',
            order: INSIDE,
            before: (r) => r.withOptions({ tools: [fresh] }),
          }),
          defineAdvisor({
            name: 'b',
            order: INSIDE,
            before: (r) => r.withOptions({ tools: [{ ...fresh }] }),
          }),
        ];
        const error = (await failureOf(runSpec(mode, specOf(model, ...advisors)))) as Error;

        expect(error.message).to.equal(
          'advisor "b" broke the request: two tools have the same name: fresh, one of advisor "a", one of advisor "b"; nothing was sent',
        );
        expect(model.prompts).to.deep.equal([]);
      });
    });
});

describe("tools of a model's default options", () => {
  const defaults = { model: 'm', tools: [fresh], toolContext: { tenant: 'model' } };

  for (const mode of MODES)
    describe(mode, () => {
      it('[D14] run with the tool context of the model', async () => {
        const model = new ScriptedChatModel([call('fresh'), 'done'], defaults);
        await runSpec(mode, ChatClient.create(model).prompt('q'));

        expect(offered(model)).to.deep.equal(['fresh', 'fresh']);
        expect(results(model)).to.deep.equal(['fresh for model']);
      });

      it('[D14] are joined with the tools of the client and the request, also after mutate', async () => {
        const own = defineTool({ name: 'own', execute: () => 1 });
        const model = new ScriptedChatModel([call('fresh', 'look', 'own'), 'done'], defaults);
        const client = ChatClient.builder(model)
          .defaultTools(own)
          .defaultToolContext({ tenant: 'client' })
          .build()
          .mutate()
          .build();
        await runSpec(mode, client.prompt('q').tools(look));

        expect(offered(model)).to.deep.equal(['fresh own look', 'fresh own look']);
        expect(results(model)[0]).to.equal('fresh for client');
      });

      it('[D14] that cannot be run are offered, and found by a resolver', async () => {
        const { definition } = fresh;
        const tools = [{ definition }];
        const model = new ScriptedChatModel([call('fresh'), 'done'], { tools });
        const manager = new ToolCallingManager({ resolver: () => fresh });
        const loop = new ToolCallingAdvisor({ manager });
        const spec = ChatClient.create(model).prompt('q').tools(look).advisors(loop);
        await runSpec(mode, spec.toolContext({ tenant: 'acme' }));

        expect(offered(model)).to.deep.equal(['fresh look', 'fresh look']);
        expect(results(model)).to.deep.equal(['fresh for acme']);
      });

      it('[D14] are sent once, and not at all if an advisor leaves them out', async () => {
        const bodies: { readonly tools?: readonly unknown[] }[] = [];
        const post: OpenAIClient['post'] = (_path, { body }) => {
          bodies.push(body);
          return { asResponse: () => Promise.reject(new Error('offline')) };
        };
        const model = new OpenAIChatModel({
          ...defaults,
          client: { baseURL: 'http://localhost/v1', apiKey: 'k', post },
          providerTools: [{ type: 'web_search' }],
          maxRetries: 0,
        });
        const without = (r: ChatClientRequest): ChatClientRequest => r.withTools([]);
        const advisor = defineAdvisor({ name: 'without', order: INSIDE, before: without });
        for (const advisors of [[], [advisor]])
          await failureOf(
            runSpec(
              mode,
              ChatClient.create(model)
                .prompt('q')
                .advisors(...advisors),
            ),
          );

        expect(bodies.map(({ tools = [] }) => tools.length)).to.deep.equal([2, 1]);
      });
    });

  it('[D14] with the name of another tool are refused with both sources', () => {
    const client = ChatClient.create(new ScriptedChatModel([], defaults));

    expect(() => client.prompt('q').tools({ ...fresh })).to.throw(
      InvalidArgumentError,
      "two tools have the same name: fresh, one of the model's default options, one of the request. Rename one of them or leave it out.",
    );
  });
});
