import { lastValueFrom, Observable } from 'rxjs';
import {
  defineAdvisor,
  defineTool,
  defineToolProvider,
  LimitExceededError,
  pinTools,
  ToolExecutionError,
  ToolProviderError,
  ToolSearchAdvisor,
  VectorToolIndex,
  augmentTools,
  InMemoryVectorStore,
  type EmbeddingModel,
  type JsonSchema,
  type Tool,
  type ToolIndex,
} from '../../src/index.js';
import { runScript, specOf, type ForeignWait, type Scene, type WaitRow } from './foreign-wait.js';

const CALL = [{ toolCalls: [{ name: 't', arguments: {} }] }, 'done'];
const LOOP = { maxDuration: LimitExceededError } as const;
const TOOL = { ...LOOP, toolTimeout: ToolExecutionError } as const;
const PROVIDER = { providerTimeout: ToolProviderError } as const;

type Validate = (value: unknown) => Promise<{ readonly value: unknown }>;

/** A Standard Schema whose check is a promise. */
const asyncSchema = (validate: Validate, json: JsonSchema) => {
  const jsonSchema = { input: () => json, output: () => json };
  return { '~standard': { version: 1 as const, vendor: 'test', validate, jsonSchema } };
};

const tool = (execute: () => unknown = () => 'ok'): Tool => defineTool({ name: 't', execute });

/** A row of a turn that calls a tool. */
const calling = (
  title: string,
  toolOf: (wait: ForeignWait) => Tool,
  limits: WaitRow['limits'] = LOOP,
): WaitRow => ({
  title,
  limits,
  run: (scene) => runScript(scene, CALL, (spec) => spec.tools(toolOf(scene.wait))),
});

const TOOLS: readonly WaitRow[] = [
  calling(
    'a tool',
    (wait) => defineTool({ name: 't', execute: (_, { signal }) => wait.enter('ok', signal) }),
    TOOL,
  ),
  calling(
    'a generator of a tool',
    (wait) =>
      defineTool({
        name: 't',
        async *execute(_, { signal }) {
          yield 'half';
          yield await wait.enter('ok', signal);
        },
      }),
    TOOL,
  ),
  calling(
    'an Observable of a tool',
    (wait) =>
      defineTool({
        name: 't',
        execute: (_, { signal }) =>
          new Observable((items) => {
            items.next('half');
            wait.enter('ok', signal).then(
              () => items.complete(),
              (error: unknown) => items.error(error),
            );
          }),
      }),
    TOOL,
  ),
  calling('the schema of arguments', (wait) =>
    defineTool({
      name: 't',
      input: asyncSchema((value) => wait.enter({ value }), { type: 'object' }),
      execute: () => 'ok',
    }),
  ),
  calling('the schema of a result', (wait) =>
    defineTool({
      name: 't',
      output: asyncSchema((value) => wait.enter({ value }), {}),
      execute: () => 'ok',
    }),
  ),
  calling('the output for the model', (wait) =>
    defineTool({ name: 't', toModelOutput: () => wait.enter('ok'), execute: () => 'ok' }),
  ),
  calling('the function of added arguments', (wait) => {
    const added = { type: 'object', properties: { why: { type: 'string' } } };
    return augmentTools([tool()], added, () => wait.enter(undefined))[0] as Tool;
  }),
  {
    title: 'the handler of a tool error',
    limits: LOOP,
    run: (scene) => {
      const failing = tool(() => {
        throw new Error('no');
      });
      return runScript(scene, CALL, (spec) => spec.tools(failing), {
        onToolError: () => scene.wait.enter('failed'),
      });
    },
  },
  {
    title: 'a tool resolver',
    limits: LOOP,
    run: (scene) =>
      runScript(scene, CALL, (spec) => spec, {
        resolver: (_, { signal }) => scene.wait.enter(tool(), signal),
      }),
  },
  ...(['before', 'after'] as const).map((when): WaitRow => ({
    title: `adviseToolCall ${when} the tool`,
    limits: LOOP,
    run: ({ wait, ...scene }) =>
      runScript({ wait, ...scene }, CALL, (spec) =>
        spec.tools(tool()).advisors(
          defineAdvisor({
            name: 'around-tool',
            order: 0,
            aroundTool: async (call, next) => {
              if (when === 'before') await wait.enter(undefined, call.context.signal);
              const result = await next(call);
              if (when === 'after') await wait.enter(undefined, call.context.signal);
              return result;
            },
          }),
        ),
      ),
  })),
  {
    title: 'a tool provider',
    limits: PROVIDER,
    run: (scene) =>
      runScript(scene, CALL, (spec) =>
        spec.tools(
          defineToolProvider({
            name: 'p',
            timeout: scene.limits.providerTimeout,
            tools: ({ signal }) => scene.wait.enter([tool()], signal),
          }),
        ),
      ),
  },
  {
    title: 'the pins of tools',
    run: (scene) => {
      const pins = { get: () => scene.wait.enter(undefined), set: () => undefined };
      return runScript(scene, CALL, (spec) => spec.tools(pinTools([tool()], { pins })));
    },
  },
  ...(['entity', 'partialEntity'] as const).map((method): WaitRow => ({
    title: `the schema of ${method}`,
    run: (scene) => {
      const spec = specOf(scene, ['{}'], (each) => each);
      const schema = asyncSchema((value) => scene.wait.enter({ value }), { type: 'object' });
      if (method === 'partialEntity') return lastValueFrom(spec.stream().partialEntity(schema));
      return (scene.mode === 'call' ? spec.call() : spec.stream()).entity(schema);
    },
  })),
];

const SEARCH = [
  { toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'anything' } }] },
  'done',
];

const searching = (title: string, indexOf: (wait: ForeignWait) => ToolIndex): WaitRow => ({
  title,
  limits: LOOP,
  run: (scene: Scene) => {
    const search = new ToolSearchAdvisor({ toolIndex: indexOf(scene.wait) });
    return runScript(scene, SEARCH, (spec) => spec.tools(tool()).advisors(search));
  },
});

const found = { references: [] };
const indexWith = (methods: Partial<ToolIndex>): ToolIndex => ({
  index: () => undefined,
  search: () => found,
  clear: () => undefined,
  ...methods,
});

/** Embeds; the call of this number, from 1, waits. */
function embeddings(wait: ForeignWait, waiting: number): EmbeddingModel {
  let count = 0;
  return {
    embed: async (texts, run) => {
      if (++count === waiting) await wait.enter(undefined, run?.signal);
      const vectors = texts.map(() => new Float32Array([1, 0]));
      return { vectors, usage: undefined, model: undefined };
    },
  };
}

const vectorIndex = (wait: ForeignWait, vectorStore: InMemoryVectorStore): VectorToolIndex =>
  new VectorToolIndex({ embeddingModel: embeddings(wait, 0), vectorStore });

class WaitingVectorStore extends InMemoryVectorStore {
  constructor(
    private readonly wait: ForeignWait,
    private readonly method: 'upsert' | 'search',
  ) {
    super();
  }

  override async upsert(...args: Parameters<InMemoryVectorStore['upsert']>): Promise<void> {
    if (this.method === 'upsert') await this.wait.enter(undefined);
    return super.upsert(...args);
  }

  override async search(...args: Parameters<InMemoryVectorStore['search']>) {
    if (this.method === 'search') await this.wait.enter(undefined);
    return super.search(...args);
  }
}

const SEARCHES: readonly WaitRow[] = [
  searching('the building of a tool index', (wait) =>
    indexWith({ index: ({ signal }) => wait.enter(undefined, signal) }),
  ),
  searching('the search in a tool index', (wait) =>
    indexWith({ search: ({ signal }) => wait.enter(found, signal) }),
  ),
  ...[1, 2].map((call) =>
    searching(
      `the embedding model of ${call === 1 ? 'the tools' : 'a query'}`,
      (wait) => new VectorToolIndex({ embeddingModel: embeddings(wait, call) }),
    ),
  ),
  ...(['upsert', 'search'] as const).map((method) =>
    searching(`${method} of a vector store`, (wait) =>
      vectorIndex(wait, new WaitingVectorStore(wait, method)),
    ),
  ),
];

/** Waits for tools, what surrounds a call of them, and the search for them. */
export const TOOL_WAITS: readonly WaitRow[] = [...TOOLS, ...SEARCHES];
