import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  ToolSearchAdvisor,
  VectorToolIndex,
  type EmbeddingModel,
  type PromptSpec,
  type RunReport,
} from '../../../src/index.js';
import { OpenAIEmbeddingModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { sendJson } from '../../support/wire-server.js';

const usage = (tokens: number) => ({ inputTokens: tokens, outputTokens: 0, totalTokens: tokens });
const tools = ['alpha', 'beta', 'gamma'].map((name) =>
  defineTool({ name, description: `Does ${name}.`, execute: () => name }),
);

const entries = ({ ledger }: Pick<RunReport, 'ledger'>): readonly unknown[] =>
  ledger.map(({ kind, model, outcome, usage: spent }) => [
    kind,
    model,
    outcome,
    spent?.inputTokens,
  ]);

for (const mode of MODES) {
  describe(`embeddings in the ledger of a run by ${mode}`, () => {
    const wire = useWireModel();
    const openAI = (): OpenAIEmbeddingModel =>
      new OpenAIEmbeddingModel({
        model: 'small',
        apiKey: 'sk-test',
        baseURL: wire.server.baseURL,
        batchSize: 2,
        maxRetries: 0,
      });
    const embedding = defineAdvisor({
      name: 'retrieval',
      order: AdvisorOrder.RETRIEVAL,
      around: async (request, next) => {
        await openAI().embed(['a', 'b', 'c'], { signal: request.signal });
        return next(request);
      },
    });
    const answerOf = (model: ScriptedChatModel): PromptSpec => ChatClient.create(model).prompt('?');

    it('[D5] are counted for a tool search: for the index and each query', async () => {
      let calls = 0;
      const embeddingModel: EmbeddingModel = {
        embed: async (texts) => ({
          vectors: texts.map(() => Float32Array.of(1, 0)),
          usage: usage(++calls * 10),
          model: 'tiny',
        }),
      };
      const toolIndex = new VectorToolIndex({ embeddingModel });
      const model = new ScriptedChatModel(({ messages }) =>
        messages.length === 2
          ? {
              toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'alpha' } }],
              usage: usage(1),
            }
          : { text: 'so', usage: usage(1) },
      );
      const spec = answerOf(model)
        .system('s')
        .tools(...tools)
        .advisors(new ToolSearchAdvisor({ toolIndex, minTools: 1 }));

      const first = await runSpec(mode, spec);
      const second = await runSpec(mode, spec);

      expect(
        entries(first).filter((entry) => (entry as string[])[0] === 'embedding'),
      ).to.deep.equal([
        ['embedding', 'tiny', 'answered', 10],
        ['embedding', 'tiny', 'answered', 20],
      ]);
      expect(first.usage?.inputTokens).to.equal(32);
      // the tools are known: their vectors are paid for once
      expect(second.usage?.inputTokens).to.equal(32);
    });

    it('[D5] are those that an advisor requests with the signal of its request', async () => {
      wire.answer = (exchange) => {
        const { input } = exchange.body as { readonly input: readonly string[] };
        const data = input.map((_, index) => ({ index, embedding: [1, 0] }));
        const spent = { prompt_tokens: input.length, total_tokens: input.length };
        sendJson(exchange, { data, model: 'small-1', usage: spent });
      };
      const model = new ScriptedChatModel([{ text: 'so', usage: usage(100) }]);

      const response = await runSpec(mode, answerOf(model).advisors(embedding));

      expect(entries(response)).to.deep.equal([
        ['embedding', 'small-1', 'answered', 2],
        ['embedding', 'small-1', 'answered', 1],
        ['chat', 'scripted', 'answered', 100],
      ]);
      expect(response.usage).to.deep.equal(usage(103));
    });

    it('[D5] have failed ones too', async () => {
      wire.answer = (exchange) => sendJson(exchange, { error: { message: 'no' } }, 500);

      const error = await failureOf(
        runSpec(mode, answerOf(new ScriptedChatModel([])).advisors(embedding)),
      );

      expect(entries((error as { readonly run: RunReport }).run)).to.deep.equal([
        ['embedding', 'small', 'failed', undefined],
      ]);
    });

    it('[D7] are over before the run has settled', async () => {
      const controller = new AbortController();
      let isClosed = false;
      wire.answer = ({ socket }) => {
        socket.once('close', () => (isClosed = true));
        controller.abort();
      };
      const spec = answerOf(new ScriptedChatModel([])).advisors(embedding);

      const error = await failureOf(runSpec(mode, spec.signal(controller.signal)));
      const { run: report } = error as { readonly run: RunReport };
      await report.settled;

      expect(isClosed).to.equal(true);
      expect(entries(report)).to.deep.equal([['embedding', 'small', 'cancelled', undefined]]);
    });
  });
}
