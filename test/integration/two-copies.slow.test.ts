import { rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { build, stop } from 'esbuild';
import * as ours from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/scripted-chat-model.js';
import { user } from '../support/conversation.js';
import { MODES, RUNS, failureOf, runSpec } from '../support/modes.js';

type Library = typeof ours;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Loads the library once more, with all its modules and packages. */
async function loadCopy(): Promise<Library> {
  const outfile = `${root}node_modules/.cache/advisor-chain/copy-${process.pid}.mjs`;
  await build({
    entryPoints: [`${root}src/index.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@opentelemetry/api'], // loaded at run time
  });
  try {
    return (await import(pathToFileURL(outfile).href)) as Library;
  } finally {
    await rm(outfile);
  }
}

const asking = { toolCalls: [{ name: 'now' }] };

describe('two copies of the library', function () {
  this.timeout(60_000);
  let copy: Library;

  before(async () => {
    copy = await loadCopy();
  });

  after(() => stop());

  it('[F82] have classes of their own', () => {
    const error = new copy.CancelledError('over');

    expect(error).not.to.be.instanceOf(ours.CancelledError);
    expect(ours.AdvisorChainError.isInstance(error)).to.equal(true);
    expect(copy.AdvisorChainError.isInstance(new ours.CancelledError('over'))).to.equal(true);
  });

  const PAIRS: readonly (readonly [what: string, tools: () => Library, client: () => Library])[] = [
    ['the other copy in a client of ours', () => copy, () => ours],
    ['ours in a client of the other copy', () => ours, () => copy],
  ];

  for (const [mode, run] of RUNS)
    for (const [what, first, second] of PAIRS) {
      it(`[F82] run a tool of ${what}, with its result (${mode})`, async () => {
        const model = new ScriptedChatModel([asking, 'Noon.']);
        const now = first().defineTool({
          name: 'now',
          execute: () => first().toolResult({ content: 'for the model', value: { hour: 12 } }),
        });

        expect(await run(second().ChatClient.create(model).prompt('?').tools(now))).to.equal(
          'Noon.',
        );

        expect(model.prompts[1]?.messages.at(-1)).to.deep.include({
          role: 'tool',
          content: 'for the model',
        });
      });

      it(`[F82] show the model a ToolError of ${what} (${mode})`, async () => {
        const model = new ScriptedChatModel([asking, 'Noon.']);
        const now = first().defineTool({
          name: 'now',
          execute: () => {
            throw new (first().ToolError)('There is no clock.');
          },
        });

        await run(second().ChatClient.create(model).prompt('?').tools(now));

        expect(model.prompts[1]?.messages.at(-1)).to.deep.include({
          content: 'There is no clock.',
          isError: true,
        });
      });

      it(`[F82] run an advisor of ${what}, with its context and its response (${mode})`, async () => {
        const key = [ours, copy].map(
          ({ ContextKey }) => new ContextKey<string>('test.two-copies', 'none'),
        );
        const [ourKey, copyKey] = key as [ours.ContextKey<string>, ours.ContextKey<string>];
        const seen: string[] = [];
        const advisor = first().defineAdvisor({
          name: 'advisor',
          order: 0,
          around: async (request, next) => {
            seen.push(request.context.get(ourKey), request.context.get(copyKey));
            const response = await next(request);
            return first().ChatResponse.ofText(`${response.text}!`);
          },
        });
        const spec = second()
          .ChatClient.create(new ScriptedChatModel(['Noon']))
          .prompt('?')
          .advisors(advisor, (spec) => spec.param(first() === ours ? ourKey : copyKey, 'set'));

        expect(await run(spec)).to.equal('Noon!');
        expect(seen).to.deep.equal(['set', 'set']);
      });

      it(`[F82] run a decorated method of ${what} (${mode})`, async () => {
        const { Tool } = first();
        class Clock {
          @Tool()
          now(): string {
            return 'noon';
          }
        }
        const model = new ScriptedChatModel([asking, 'Noon.']);

        await run(second().ChatClient.create(model).prompt('?').tools(new Clock()));

        expect(model.prompts[1]?.messages.at(-1)).to.deep.include({ content: 'noon' });
      });
    }

  for (const mode of MODES)
    for (const [what, first, second] of PAIRS) {
      it(`[F82] report an error of a model of ${what} (${mode})`, async () => {
        const failure = new (first().ModelCallError)('down', { partialText: 'It is' });
        const client = second().ChatClient.create(new ScriptedChatModel([failure]));

        const error = await failureOf(runSpec(mode, client.prompt('?')));

        expect(error).to.equal(failure);
        expect((error as ours.ModelCallError).run?.partialText).to.equal('It is');
      });
    }

  for (const [what, first, second] of PAIRS) {
    it(`[F82] do not repeat a write that a store of ${what} refused`, async () => {
      let writes = 0;
      class Store extends first().InMemoryChatMemoryRepository {
        override append(...args: Parameters<ours.InMemoryChatMemoryRepository['append']>) {
          writes++;
          return super.append(...args);
        }
      }
      const memory = new (second().MessageWindowChatMemory)({ repository: new Store() });

      const error = await failureOf(memory.add('c', user('hi'), { expectedVersion: 5 }));

      expect(error).to.be.instanceOf(first().MemoryConflictError);
      expect(writes).to.equal(1);
    });

    it(`[F82] name the outcome of a write that a store of ${what} refused`, async () => {
      class Store extends first().InMemoryChatMemoryRepository {
        override append(id: string): Promise<number> {
          return Promise.reject(new (first().MemoryConflictError)(id, 1, 2));
        }
      }
      const error = await failureOf(turnWithMemory(second(), new Store()));

      expect(error).to.be.instanceOf(second().MemoryWriteError);
      expect((error as ours.MemoryWriteError).outcome).to.equal('not-stored');
    });

    it(`[F82] report the error of a store of ${what} that cannot be read`, async () => {
      const unreadable = new (first().MemoryReadError)('c', { version: 3, cause: 'damaged' });
      class Store extends first().InMemoryChatMemoryRepository {
        override read(): Promise<never> {
          return Promise.reject(unreadable);
        }
      }

      expect(await failureOf(turnWithMemory(second(), new Store()))).to.equal(unreadable);
    });

    it(`[F82] show the model the reason of a tool index of ${what} that refuses a query`, async () => {
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'toolSearchTool', arguments: { query: '(' } }] },
        'Found nothing.',
      ]);
      const { ChatClient, ToolSearchAdvisor, defineTool } = second();
      class Index extends first().RegexToolIndex {
        override search(): Promise<never> {
          return Promise.reject(new (first().InvalidArgumentError)('Write another pattern.'));
        }
      }
      const now = defineTool({ name: 'now', deferred: true, execute: () => 'noon' });

      await ChatClient.create(model)
        .prompt('?')
        .tools(now)
        .advisors(new ToolSearchAdvisor({ toolIndex: new Index() }))
        .call()
        .content();

      expect(model.prompts[1]?.messages.at(-1)).to.deep.include({
        content: 'Write another pattern.',
        isError: true,
      });
    });
  }
});

function turnWithMemory(
  library: Library,
  repository: ours.ChatMemoryRepository,
): Promise<string | null> {
  const { ChatClient, CONVERSATION_ID, MessageChatMemoryAdvisor, MessageWindowChatMemory } =
    library;
  const chatMemory = new MessageWindowChatMemory({ repository });
  return ChatClient.create(new ScriptedChatModel(['hi']))
    .prompt('?')
    .advisors(new MessageChatMemoryAdvisor({ chatMemory }), (spec) =>
      spec.param(CONVERSATION_ID, 'c'),
    )
    .call()
    .content();
}
