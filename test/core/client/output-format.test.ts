import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  ModelCallError,
  OUTPUT_FORMAT,
  StructuredOutputError,
  textOf,
  type Advisor,
  type ChatModel,
  type EntityOptions,
  type OutputFormat,
} from '../../../src/index.js';
import { OpenAIChatModel, type OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import type { InputSchema } from '../../../src/core/json-schema/index.js';
import { completion, sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const City = z.object({ name: z.string(), population: z.int().optional() });
const ROME = '{"name":"Rome","population":null}';
const rome = { name: 'Rome' };

const formatOf = (model: ScriptedChatModel, at = 0): unknown =>
  model.prompts[at]?.options.responseFormat;
const userText = (model: ScriptedChatModel, at = 0): string =>
  textOf(model.prompts[at]?.userMessage?.content ?? '');

const lengthOf = {
  version: 1,
  vendor: 'acme',
  validate: (value: unknown) => ({ value: { length: String(value).length } }),
} as const;

/** A scripted model whose provider can enforce schemas. */
function native(script: Script): ScriptedChatModel {
  return Object.assign(new ScriptedChatModel(script), { supportsSchema: () => true });
}

function ask(model: ChatModel, options?: EntityOptions, ...advisors: Advisor[]): Promise<unknown> {
  const spec = ChatClient.create(model)
    .prompt('Which city?')
    .advisors(...advisors);
  return spec.call().entity(City, options);
}

describe('OUTPUT_FORMAT', () => {
  it('[D26] [SOV-24] is sent as a schema, without instructions, to a model that supports it', async () => {
    const model = native([ROME]);

    expect(await ask(model)).to.deep.equal(rome);

    expect(userText(model)).to.equal('Which city?');
    expect(formatOf(model)).to.have.nested.property('schema.properties.name.type', 'string');
  });

  it('[D26] [SOV-19] is sent in the way that the option `mode` sets', async () => {
    const model = native([ROME]);
    const plain = new ScriptedChatModel([ROME]);

    await ask(model, { mode: 'text' });
    await ask(plain, { mode: 'native' });

    expect([formatOf(model), userText(plain)]).to.deep.equal([undefined, 'Which city?']);
    expect(userText(model)).to.match(/^Which city\?\nAnswer with JSON/);
    expect(formatOf(plain)).to.have.property('schema');
  });

  it('[D26] leaves a `responseFormat` of the request unchanged', async () => {
    const model = native([ROME]);

    await ChatClient.create(model)
      .prompt('?')
      .options({ responseFormat: 'json' })
      .call()
      .entity(City);

    expect(formatOf(model)).to.equal('json');
    expect(userText(model)).to.match(/^\?\nAnswer with JSON/);
  });

  it('[D26] can be read by an advisor, which asks again for what does not fit', async () => {
    const model = new ScriptedChatModel(['Rome!', ROME]);
    let format: OutputFormat | undefined;
    const askAgain = defineAdvisor({
      name: 'ask again',
      order: 9_999,
      around: async (request, next) => {
        const response = await next(request);
        format = request.context.get(OUTPUT_FORMAT);
        const error: unknown = await format?.parse?.(response).catch((reason: unknown) => reason);
        if (!(error instanceof StructuredOutputError)) return response;
        const { message } = response;
        return next(
          request.withMessages([
            ...request.prompt.messages,
            message,
            { role: 'user', content: error.issues.join() },
          ]),
        );
      },
    });

    expect(await ask(model, {}, askAgain)).to.deep.equal(rome);

    expect(format).to.have.nested.property('schema.type', 'object');
    expect(userText(model, 1)).to.match(/^not valid JSON.*\nAnswer with JSON/s);
  });

  it('[D26] [SOV-23] can be replaced by an advisor', async () => {
    const model = native([ROME]);
    const replace = defineAdvisor({
      name: 'replace',
      order: 9_999,
      before: (request) => {
        const format = request.context.get(OUTPUT_FORMAT) as OutputFormat;
        return request.withContext(OUTPUT_FORMAT, { ...format, text: 'As JSON!', mode: 'text' });
      },
    });

    await ask(model, {}, replace);

    expect([userText(model), formatOf(model)]).to.deep.equal(['Which city?\nAs JSON!', undefined]);
  });

  it('[D26] is sent in every iteration, with the tools, by call and by stream', async () => {
    const tool = defineTool({ name: 'look', execute: () => 'Rome' });
    const script = [{ toolCalls: [{ name: 'look' }] }, ROME];
    const [called, streamed] = [native(script), native(script)];
    const format = { text: 'As JSON!', schema: { type: 'object' } };

    await ChatClient.create(called).prompt('?').tools(tool).call().entity(City);
    await new Promise<void>((resolve, reject) => {
      ChatClient.create(streamed)
        .prompt('?')
        .tools(tool)
        .advisors((a) => a.param(OUTPUT_FORMAT, format))
        .stream()
        .content()
        .subscribe({ complete: resolve, error: reject });
    });

    expect([formatOf(called, 0), formatOf(called, 1)]).to.satisfy((formats: unknown[]) =>
      formats.every((each) => each !== undefined && each === formats[0]),
    );
    expect([formatOf(streamed, 0), formatOf(streamed, 1)]).to.deep.equal([
      { schema: format.schema },
      { schema: format.schema },
    ]);
  });

  it('[D26] fits the model that is called, also another one', async () => {
    const [first, second] = [native([new Error('down')]), new ScriptedChatModel([ROME])];
    const fallback = defineAdvisor({
      name: 'fallback',
      order: 9_999,
      around: async (request, next) => {
        try {
          return await next(request);
        } catch {
          return next(request.withModel(second));
        }
      },
    });

    expect(await ask(first, {}, fallback)).to.deep.equal(rome);

    expect(formatOf(first)).to.have.property('schema');
    expect(formatOf(second)).to.equal(undefined);
    expect(userText(second)).to.match(/^Which city\?\nAnswer with JSON/);
  });

  it('[D26] has the input schema of any Standard Schema library, not its output', async () => {
    const jsonSchema = {
      input: () => ({ type: 'string' }),
      output: () => ({ type: 'object' }),
    };
    const standard: InputSchema = { '~standard': lengthOf };
    const convertible: InputSchema = { '~standard': { ...lengthOf, jsonSchema } };
    const model = new ScriptedChatModel(['"four"', '"five!"']);
    const spec = ChatClient.create(model).prompt('?');

    const first = await spec.call().entity(convertible);
    const second = await spec.call().entity(standard, { inputSchema: '{"type":"string"}' });

    expect([first, second]).to.deep.equal([{ length: 4 }, { length: 5 }]);

    expect(userText(model))
      .to.match(/\{"type":"string"\}$/)
      .and.equal(userText(model, 1));
  });

  it('[D26] cannot be made with an option that does not exist in this form', async () => {
    const error: unknown = await ask(native([]), { mode: 'strict' as never }).catch(
      (reason: unknown) => reason,
    );

    expect((error as Error).message).to.equal(
      `entity(…): mode must be 'auto', 'native' or 'text', not "strict"`,
    );
  });
});

describe('entity(schema) of an OpenAIChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => void;
  const model = (options: Partial<OpenAIChatModelOptions> = {}): ChatModel =>
    new OpenAIChatModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, ...options });
  const sent = (at = 0): { readonly format: unknown; readonly text: unknown } => {
    const { response_format: format, messages } = server.exchanges[at]?.body ?? {};
    const text: unknown = (messages as { content: string }[]).at(-1)?.content;
    return { format, text };
  };
  const reject = (exchange: Exchange, message: string): void =>
    sendJson(exchange, { error: { message } }, 400);

  beforeEach(async () => {
    answer = (exchange) => sendJson(exchange, completion(ROME));
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());

  it('[D26] sends a strict response_format, and nothing in the text', async () => {
    expect(await ask(model())).to.deep.equal(rome);

    expect(sent().text).to.equal('Which city?');
    expect(sent().format).to.deep.equal({
      type: 'json_schema',
      json_schema: {
        name: 'response',
        strict: true,
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            population: {
              type: ['integer', 'null'],
              minimum: Number.MIN_SAFE_INTEGER,
              maximum: Number.MAX_SAFE_INTEGER,
            },
          },
          required: ['name', 'population'],
          additionalProperties: false,
        },
      },
    });
  });

  it('[D26] describes a schema that strict mode cannot express', async () => {
    answer = (exchange) => sendJson(exchange, completion('{"Rome":1}'));
    const counts = await ChatClient.create(model())
      .prompt('?')
      .call()
      .entity(z.record(z.string(), z.int()));

    expect(counts).to.deep.equal({ Rome: 1 });
    expect(sent().format).to.equal(undefined);
    expect(sent().text).to.match(/^\?\nAnswer with JSON/);
  });

  it('[D25] reads a fenced answer of the wire', async () => {
    answer = (exchange) => sendJson(exchange, completion(`Sure! \`\`\`json ${ROME}\`\`\``));

    expect(await ask(model())).to.deep.equal(rome);
  });

  it('[D26] describes every schema with structuredOutput "text"', async () => {
    await ask(model({ structuredOutput: 'text' }));

    expect(sent().format).to.equal(undefined);
    expect(sent().text).to.match(/^Which city\?\nAnswer with JSON/);
  });

  it('[D26] describes the schema if the provider rejects response_format, and remembers it', async () => {
    const client = model();
    answer = (exchange) => {
      if (exchange.body['response_format'] === undefined) sendJson(exchange, completion(ROME));
      else reject(exchange, 'This response_format type is unavailable now');
    };

    const both = await Promise.all([ask(client), ask(client)]);
    const later = await ChatClient.create(client).prompt('?').call().responseEntity(City);

    expect([...both, later.entity]).to.deep.equal([rome, rome, rome]);
    expect(server.exchanges).to.have.lengthOf(5);
    expect(sent(4).text).to.match(/^\?\nAnswer with JSON/);
  });

  it('[D26] does not repeat a request that was rejected for another reason, or in mode "native"', async () => {
    answer = (exchange) => reject(exchange, 'the context is too long');
    const error: unknown = await ask(model()).catch((reason: unknown) => reason);
    answer = (exchange) => reject(exchange, 'Invalid schema for response_format');
    const nativeError: unknown = await ask(model(), { mode: 'native' }).catch(
      (reason: unknown) => reason,
    );

    expect(error).to.be.instanceOf(ModelCallError);
    expect(nativeError).to.be.instanceOf(ModelCallError);
    expect(server.exchanges).to.have.lengthOf(2);
  });
});
