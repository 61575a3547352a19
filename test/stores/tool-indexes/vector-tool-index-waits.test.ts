import { expect } from 'chai';
import {
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  LimitExceededError,
  ToolCallingAdvisor,
  ToolSearchAdvisor,
  VectorToolIndex,
  type EmbeddingModel,
  type EmbeddingResponse,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred, settle } from '../../support/promises.js';
import { namesOf, tool } from '../../support/tool-index-laws.js';

/** Answers a request when a test calls `answer`, and ignores its signal. */
class GatedModel implements EmbeddingModel {
  readonly requests: { texts: readonly string[]; signal: AbortSignal; answer: () => void }[] = [];

  /** @param gated number of requests that wait; later ones are answered at once */
  constructor(private readonly gated: number) {}

  async embed(
    texts: readonly string[],
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<EmbeddingResponse> {
    const gate = deferred();
    if (this.requests.length >= this.gated) gate.resolve();
    this.requests.push({ texts, signal, answer: gate.resolve });
    await gate.promise;
    return { vectors: texts.map(() => new Float32Array([1])), usage: undefined, model: 'm' };
  }
}

const [A, B, C] = [tool('a'), tool('b'), tool('c')] as const;

describe('a wait of VectorToolIndex for its embedding model', () => {
  const indexes = (
    gated: number,
  ): {
    readonly model: GatedModel;
    readonly run: (
      session: string,
      ...references: (typeof A)[]
    ) => [AbortController, Promise<unknown>];
    readonly find: (session: string) => Promise<readonly string[]>;
  } => {
    const model = new GatedModel(gated);
    const index = new VectorToolIndex({ embeddingModel: model });
    return {
      model,
      run: (session, ...references) => {
        const controller = new AbortController();
        const request = { session, references, signal: controller.signal };
        return [controller, failureOf(index.index(request))];
      },
      find: (session) => namesOf(index, { session, query: 'anything', maxResults: 9 }),
    };
  };

  it('[D41] ends with its run, which aborts the request', async () => {
    const { model, run } = indexes(1);
    const [first, failure] = run('s', A);
    first.abort('over');

    expect(await failure)
      .to.be.instanceOf(CancelledError)
      .with.property('cause', 'over');
    expect(model.requests[0]?.signal.aborted).to.equal(true);
  });

  it('[D41] does not hold a later run, also if the model ignores its signal', async () => {
    const { model, run, find } = indexes(1);
    const [first, failure] = run('s', A);
    first.abort();
    await failure;

    expect(await run('s', A)[1]).to.equal(undefined);
    expect(await find('s')).to.deep.equal(['a']);
    expect(model.requests.map(({ texts }) => texts.length)).to.deep.equal([1, 1, 1]);
  });

  it('[D41] does not hold a run that begins when the last one is cancelled', async () => {
    const { run } = indexes(1);
    const [first] = run('s', A);
    first.abort();

    expect(await run('other', A)[1]).to.equal(undefined);
  });

  it('[D41] continues for another run with the same tools', async () => {
    const { model, run, find } = indexes(1);
    const [first, failure] = run('s', A);
    const [, other] = run('other', A);
    first.abort();
    await failure;
    model.requests[0]?.answer();

    expect(await other).to.equal(undefined);
    expect(model.requests.map(({ signal }) => signal.aborted)).to.deep.equal([false]);
    expect(await find('other')).to.deep.equal(['a']);
  });

  it('[D41] continues for another run that needs one of its texts', async () => {
    const { model, run, find } = indexes(1);
    const [first, failure] = run('s', A, B);
    const [, other] = run('other', B, C);
    first.abort();
    await failure;
    expect(model.requests[0]?.signal.aborted).to.equal(false);
    model.requests[0]?.answer();

    expect(await other).to.equal(undefined);
    expect(model.requests.map(({ texts }) => texts.length)).to.deep.equal([2, 1]);
    expect(await find('other')).to.have.members(['b', 'c']);
  });

  it('[D41] of a search ends with the search', async () => {
    const model = new GatedModel(1);
    const index = new VectorToolIndex({ embeddingModel: model });
    const indexed = index.index({ session: 's', references: [A] });
    const search = new AbortController();
    const query = { session: 's', query: 'q', maxResults: 1, signal: search.signal };
    const failure = failureOf(index.search(query));
    search.abort('over');

    expect(await failure).to.be.instanceOf(CancelledError);
    expect(model.requests[0]?.signal.aborted).to.equal(false);
    model.requests[0]?.answer();
    await indexed;
  });

  for (const mode of MODES) {
    const turn = (advisor: ToolSearchAdvisor, maxDuration = Infinity): PromptSpec<never> => {
      const search = { toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'noon' } }] };
      const script: Script = [search, 'Done.'];
      return ChatClient.create(new ScriptedChatModel(script))
        .prompt('?')
        .advisors(advisor, new ToolCallingAdvisor({ maxDuration }), (spec) =>
          spec.param(CONVERSATION_ID, 'c'),
        )
        .tools(
          defineTool({ name: 'now', deferred: true, execute: () => 'noon' }),
        ) as PromptSpec<never>;
    };
    const advisors = (): [ToolSearchAdvisor, GatedModel] => {
      const model = new GatedModel(1);
      return [
        new ToolSearchAdvisor({ toolIndex: new VectorToolIndex({ embeddingModel: model }) }),
        model,
      ];
    };

    it(`[D41] does not hold the next turn of a conversation after a cancellation (${mode})`, async () => {
      const [advisor, model] = advisors();
      const controller = new AbortController();
      const failure = failureOf(runSpec(mode, turn(advisor).signal(controller.signal)));
      await settle();
      controller.abort();

      expect(await failure).to.be.instanceOf(CancelledError);
      await settle();
      expect(model.requests.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
      expect((await runSpec(mode, turn(advisor))).text).to.equal('Done.');
    });

    it(`[D41] does not hold the next turn of a conversation after a time limit (${mode})`, async () => {
      const [advisor] = advisors();

      expect(await failureOf(runSpec(mode, turn(advisor, 20)))).to.be.instanceOf(
        LimitExceededError,
      );
      expect((await runSpec(mode, turn(advisor))).text).to.equal('Done.');
    });

    it(`[D41] does not fail a concurrent turn of the conversation (${mode})`, async () => {
      const [advisor, model] = advisors();
      const controller = new AbortController();
      const failure = failureOf(runSpec(mode, turn(advisor).signal(controller.signal)));
      const other = runSpec(mode, turn(advisor));
      await settle();
      expect(model.requests).to.have.lengthOf(1);
      controller.abort();

      expect(await failure).to.be.instanceOf(CancelledError);
      expect((await other).run?.toolCalls.map(({ status }) => status)).to.deep.equal(['finished']);
      expect(model.requests).to.have.lengthOf(3);
    });
  }
});
