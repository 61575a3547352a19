/** Making and offering tools: the pages of Spring AI on methods, functions, specification, schemas and results. */
import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { of } from 'rxjs';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  defineToolProvider,
  InvalidArgumentError,
  Prompt,
  Tool,
  ToolDefinitionError,
  toolsFrom,
  type JsonSchema,
  type ToolContext,
} from '../../src/index.js';
import { mcpTools, serveMcp } from '../../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { runBatch } from '../support/batch.js';
import { linked } from '../support/mcp.js';
import { MODES, runSpec } from '../support/modes.js';
import { calls, namesOf, resultsIn } from '../support/tool-search.js';

/** A clock whose methods are tools: one reads, one acts. */
class Clock {
  readonly timers: string[] = [];

  @Tool({ description: 'The time of the user, in ISO 8601.' })
  currentTime(): string {
    return '2030-05-01T09:00:00';
  }

  @Tool({
    description: 'Rings at a time.',
    input: z.object({ time: z.string().describe('Time in ISO 8601') }),
  })
  setTimer({ time }: { time: string }): void {
    this.timers.push(time);
  }
}

interface Plant {
  readonly name: string;
  readonly litres: number;
}

const PLANTS: Readonly<Record<number, Plant>> = { 7: { name: 'fern', litres: 2 } };

/** Methods with every kind of place and option. */
class Garden {
  @Tool({ name: 'find_plant', description: 'A plant by its number.', input: z.object({ id: z.int() }) }) // prettier-ignore
  find({ id }: { id: number }): Plant | undefined {
    return PLANTS[id];
  }

  @Tool()
  async waterAllPlants(): Promise<string> {
    return this.#soil() === 'dry' ? 'watered' : 'wet enough';
  }

  @Tool({ returnDirect: true })
  static season(): string {
    return 'spring';
  }

  @Tool({ resultConverter: (value) => `<${String(value)}>` })
  #soil(): string {
    return 'dry';
  }
}

const schemaOf = (tools: readonly Tool[], name: string): JsonSchema | undefined =>
  tools.find(({ definition }) => definition.name === name)?.definition.inputSchema;

describe('source: defining tools', () => {
  describe('first steps', () => {
    it('without a tool the model has only its own knowledge', async () => {
      const model = new ScriptedChatModel(['I have no clock.']);

      const text = await ChatClient.create(model).prompt('Which day is tomorrow?').call().content();

      expect(text).to.equal('I have no clock.');
      expect(model.prompts[0]?.options.tools ?? []).to.deep.equal([]);
    });

    for (const mode of MODES) {
      it(`a tool without arguments gives information that the model lacks (${mode})`, async () => {
        const model = new ScriptedChatModel([calls('currentTime'), 'The 2nd of May.']);

        const { text } = await runSpec(
          mode,
          ChatClient.create(model).prompt('Which day is tomorrow?').tools(new Clock()),
        );

        expect(text).to.equal('The 2nd of May.');
        expect(model.prompts.map(resultsIn)).to.deep.equal([[], ['2030-05-01T09:00:00']]);
      });

      it(`an action uses the result of a call before it (${mode})`, async () => {
        const clock = new Clock();
        const model = new ScriptedChatModel([
          calls('currentTime'),
          { toolCalls: [{ name: 'setTimer', arguments: { time: '2030-05-01T09:10:00' } }] },
          'It rings at ten past nine.',
        ]);

        const { text } = await runSpec(
          mode,
          ChatClient.create(model).prompt('Wake me in 10 minutes.').tools(clock),
        );

        expect(text).to.equal('It rings at ten past nine.');
        expect(clock.timers).to.deep.equal(['2030-05-01T09:10:00']);
        expect(model.prompts.map(resultsIn).at(-1)).to.deep.equal(['2030-05-01T09:00:00', 'Done']);
      });
    }
  });

  describe('methods', () => {
    it('a decorated method is a tool: name, description and result settings', () => {
      const [find, water, soil, season] = toolsFrom(new Garden());

      expect(find?.definition).to.deep.include({
        name: 'find_plant',
        description: 'A plant by its number.',
      });
      expect(water?.definition).to.deep.include({
        name: 'waterAllPlants',
        description: 'water all plants',
      });
      expect(soil?.definition.name).to.equal('soil');
      expect(season?.metadata.returnDirect).to.equal(true);
    });

    it('instance, static and private methods run, of any class', async () => {
      class Greenhouse extends Garden {}

      const { contents } = await runBatch(toolsFrom(new Greenhouse()), [
        { name: 'find_plant', args: { id: 7 } },
        'waterAllPlants',
        'soil',
        'season',
      ]);

      expect(contents).to.deep.equal(['{"name":"fern","litres":2}', 'watered', '<dry>', 'spring']);
    });

    it('static methods need no object', async () => {
      const { contents } = await runBatch(toolsFrom(Garden), ['season']);

      expect(contents).to.deep.equal(['spring']);
    });

    it('two tools of a class with one name are rejected', () => {
      class Twice {
        @Tool({ name: 'same' })
        one(): void {}
        @Tool({ name: 'same' })
        two(): void {}
      }

      expect(() => toolsFrom(new Twice())).to.throw(InvalidArgumentError, 'same');
    });

    it('a name is unique in a request', () => {
      const spec = ChatClient.create(new ScriptedChatModel([])).prompt('?');
      const other = defineTool({ name: 'currentTime', execute: () => 0 });

      expect(() => spec.tools(new Clock(), other)).to.throw(InvalidArgumentError, 'currentTime');
    });

    it('arguments have most types: numbers, enums, lists, maps, objects, and optional ones', async () => {
      const input = z.object({
        count: z.int(),
        kind: z.enum(['tree', 'herb']),
        rows: z.array(z.array(z.number())),
        labels: z.record(z.string(), z.string()),
        bed: z.object({ name: z.string(), shaded: z.boolean().optional() }),
      });
      class Planner {
        @Tool({ input })
        plan(args: z.infer<typeof input>): unknown {
          return args;
        }
      }
      const args = { count: 2, kind: 'herb', rows: [[1], []], labels: { a: 'b' }, bed: { name: 'x' } }; // prettier-ignore

      const { results } = await runBatch(toolsFrom(new Planner()), [
        { name: 'plan', args },
        { name: 'plan', args: { ...args, kind: 'stone' } },
      ]);

      expect(results[0]?.result.value).to.deep.equal(args);
      expect(results[1]).to.deep.include({ accepted: false });
      expect(results[1]?.result.content).to.include('kind');
    });

    it('a method is made a tool without a decorator', async () => {
      class Barometer {
        constructor(private readonly hectopascals: number) {}
        read(): number {
          return this.hectopascals;
        }
        static unit(): string {
          return 'hPa';
        }
      }
      const barometer = new Barometer(1013);
      const pressure = defineTool({ name: 'pressure', execute: () => barometer.read() });
      const unit = defineTool({ name: 'unit', execute: () => Barometer.unit() });

      const { contents } = await runBatch([pressure, unit], ['pressure', 'unit']);

      expect(contents).to.deep.equal(['1013', 'hPa']);
    });

    it('results that Java tools cannot have: promises, generators and Observables', async () => {
      const tools = [
        defineTool({ name: 'promise', execute: async () => ({ a: 1 }) }),
        defineTool({
          name: 'generator',
          execute: function* () {
            yield 'half';
            yield 'whole';
          },
        }),
        defineTool({ name: 'observable', execute: () => of(1, 2) }),
      ];

      const { contents } = await runBatch(tools, ['promise', 'generator', 'observable']);

      expect(contents).to.deep.equal(['{"a":1}', 'whole', '2']);
    });
  });

  describe('functions', () => {
    it('a function of one object: the schema comes from the type of its input', async () => {
      const forecast = defineTool({
        name: 'forecast',
        description: 'Temperature of a place.',
        input: z.object({ place: z.string(), unit: z.enum(['C', 'F']) }),
        execute: ({ place, unit }) => ({ place, degrees: unit === 'C' ? 30 : 86 }),
      });

      const { contents } = await runBatch(
        [forecast],
        [{ name: 'forecast', args: { place: 'Aarhus', unit: 'F' } }],
      );

      expect(contents).to.deep.equal(['{"place":"Aarhus","degrees":86}']);
      expect(forecast.definition.inputSchema).to.deep.include({ required: ['place', 'unit'] });
      expect(forecast.definition.inputSchema).to.have.nested.property(
        'properties.unit.enum[1]',
        'F',
      );
    });

    it('functions without input, without result, and with input and context', async () => {
      const stored: unknown[] = [];
      const tools = [
        defineTool({ name: 'supply', execute: () => 5 }),
        defineTool({
          name: 'consume',
          input: z.object({ item: z.string() }),
          execute: ({ item }) => void stored.push(item),
        }),
        defineTool({
          name: 'both',
          input: z.object({ item: z.string() }),
          execute: ({ item }, { values }) => `${item} of ${String(values['owner'])}`,
        }),
      ];

      const { contents } = await runBatch(
        tools,
        ['supply', { name: 'consume', args: { item: 'a' } }, { name: 'both', args: { item: 'b' } }],
        { run: { toolContext: { owner: 'Ida' } } },
      );

      expect(contents).to.deep.equal(['5', 'Done', 'b of Ida']);
      expect(stored).to.deep.equal(['a']);
    });

    it('a name is required, a schema of its own may replace the schema of the input', () => {
      const input = z.object({ id: z.string() });
      const inputSchema = { type: 'object', properties: { id: { type: 'string', minLength: 3 } } };
      const tool = defineTool({ name: 'get', input, inputSchema, execute: () => 0 });

      expect(tool.definition.inputSchema).to.deep.equal(inputSchema);
      expect(() => defineTool({ name: '', execute: () => 0 })).to.throw(ToolDefinitionError);
    });

    it('one tool of a module serves clients as default tool and requests', async () => {
      const shared = defineTool({ name: 'shared', execute: () => 'ok' });
      const model = new ScriptedChatModel([calls('shared'), 'a', calls('shared'), 'b']);
      const byDefault = ChatClient.builder(model).defaultTools(shared).build();

      const texts = [
        await byDefault.prompt('?').call().content(),
        await ChatClient.create(model).prompt('?').tools(shared).call().content(),
      ];

      expect(texts).to.deep.equal(['a', 'b']);
    });
  });

  describe('offering', () => {
    const tool = (name: string): Tool => defineTool({ name, execute: () => name });

    it('a request takes objects, tools, providers and lists of them', async () => {
      const model = new ScriptedChatModel(['ok']);
      const provider = defineToolProvider({ name: 'p', tools: [tool('provided')] });

      await ChatClient.create(model)
        .prompt('?')
        .tools(new Clock(), tool('single'), [tool('listed'), provider])
        .call()
        .content();

      expect(model.prompts.map(namesOf)[0]).to.have.members([
        'currentTime',
        'setTimer',
        'single',
        'listed',
        'provided',
      ]);
    });

    it('tools of a request are offered in that request only', async () => {
      const model = new ScriptedChatModel(['a', 'b']);
      const client = ChatClient.create(model);

      await client.prompt('?').tools(tool('once')).call().content();
      await client.prompt('?').call().content();

      expect(model.prompts.map(namesOf)).to.deep.equal([['once'], []]);
    });

    it('default tools are in every request of the clients of a builder, and join the tools of a request', async () => {
      const model = new ScriptedChatModel(['a', 'b', 'c']);
      const builder = ChatClient.builder(model).defaultTools(tool('common'));

      await builder.build().prompt('?').call().content();
      await builder.build().prompt('?').tools(tool('own')).call().content();
      await builder.build().mutate().build().prompt('?').call().content();

      expect(model.prompts.map(namesOf)).to.deep.equal([['common'], ['common', 'own'], ['common']]);
    });

    it('a model gets tools by the options of a prompt, and leaves their calls to the caller', async () => {
      const model = new ScriptedChatModel([calls('once')]);

      const response = await model.call(new Prompt('?', { tools: [tool('once')] }));

      expect(model.prompts.map(namesOf)).to.deep.equal([['once']]);
      expect(callsOf(response.message).map(({ name }) => name)).to.deep.equal(['once']);
    });

    it('default tools of a model are offered and run by its clients', async () => {
      const model = new ScriptedChatModel([calls('builtIn'), 'ok'], { tools: [tool('builtIn')] });

      const text = await ChatClient.create(model).prompt('?').call().content();

      expect(text).to.equal('ok');
      expect(model.prompts.map(namesOf)).to.deep.equal([['builtIn'], ['builtIn']]);
      expect(model.prompts.map(resultsIn)[1]).to.deep.equal(['builtIn']);
    });
  });

  describe('specification', () => {
    it('a tool is written from scratch as a plain object', async () => {
      const tool: Tool = {
        definition: { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } },
        metadata: { returnDirect: false },
        call: (args: unknown, { call, values }: ToolContext) => ({ args, id: call.id, values }),
      };
      const model = new ScriptedChatModel([
        { toolCalls: [{ id: 'c1', name: 'echo', arguments: { a: 1 } }] },
        'ok',
      ]);

      await ChatClient.create(model).prompt('?').tools(tool).toolContext({ b: 2 }).call().content();

      expect(model.prompts.map(resultsIn)[1]).to.deep.equal([
        '{"args":{"a":1},"id":"c1","values":{"b":2}}',
      ]);
    });

    it('the schema of a definition is JSON text or an object', () => {
      const inputSchema = {
        type: 'object',
        properties: { place: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
        required: ['place', 'unit'],
      };
      const tools = [inputSchema, JSON.stringify(inputSchema)].map((input) =>
        defineTool({ name: 'forecast', description: 'Temperature.', input, execute: () => 0 }),
      );

      expect(tools.map(({ definition }) => definition)).to.deep.equal([
        { name: 'forecast', description: 'Temperature.', inputSchema },
        { name: 'forecast', description: 'Temperature.', inputSchema },
      ]);
    });

    it('another client is a tool', async () => {
      const expert = ChatClient.create(new ScriptedChatModel(['Prune it in March.']));
      const ask = defineTool({
        name: 'askGardener',
        input: z.object({ question: z.string() }),
        execute: ({ question }, { signal }) =>
          expert.prompt(question).signal(signal).call().content(),
      });

      const { contents } = await runBatch(
        [ask],
        [{ name: 'askGardener', args: { question: 'When?' } }],
      );

      expect(contents).to.deep.equal(['Prune it in March.']);
    });

    it('tools of an MCP server are tools', async () => {
      const served = defineTool({ name: 'moisture', execute: () => '40 %' });
      const mcp = mcpTools({ servers: { soil: { transport: linked(() => serveMcp([served])) } } });
      const model = new ScriptedChatModel((prompt, index) =>
        index === 0 ? calls(...namesOf(prompt)) : 'ok',
      );

      try {
        await ChatClient.create(model).prompt('?').tools(mcp).call().content();
      } finally {
        await mcp.close();
      }

      expect(model.prompts.map(resultsIn)[1]).to.deep.equal(['40 %']);
    });
  });

  describe('schema', () => {
    it('arguments have descriptions, also nested ones', () => {
      const [, schema] = ['currentTime', 'setTimer'].map((name) =>
        schemaOf(toolsFrom(new Clock()), name),
      );
      const nested = defineTool({
        name: 'n',
        input: z.object({ bed: z.object({ ph: z.number().describe('Acidity') }) }),
        execute: () => 0,
      });

      expect(schema).to.have.nested.property('properties.time.description', 'Time in ISO 8601');
      expect(nested.definition.inputSchema).to.have.nested.property(
        'properties.bed.properties.ph.description',
        'Acidity',
      );
    });

    it('arguments are required unless optional; a call without an optional one runs', async () => {
      const update = defineTool({
        name: 'updateCustomer',
        input: z.object({
          id: z.int(),
          name: z.string(),
          email: z.string().optional(),
          home: z.object({ city: z.string(), zip: z.string().optional() }).optional(),
        }),
        execute: (args) => args,
      });

      const { results } = await runBatch(
        [update],
        [
          { name: 'updateCustomer', args: { id: 1, name: 'Ida' } },
          { name: 'updateCustomer', args: { id: 1, email: 'ida@example.com' } },
        ],
      );

      expect(update.definition.inputSchema['required']).to.deep.equal(['id', 'name']);
      expect(update.definition.inputSchema).to.have.nested.property(
        'properties.home.required.length',
        1,
      );
      expect(results.map(({ accepted }) => accepted)).to.deep.equal([true, false]);
      expect(results[1]?.result.content).to.include('name');
    });
  });

  describe('result conversion', () => {
    it('text stays text, nothing is "Done", other values are JSON', async () => {
      const values: Readonly<Record<string, unknown>> = { text: 'a "b"', nothing: undefined, none: null, list: [1, 'x'], object: { a: [true] } }; // prettier-ignore
      const tools = Object.keys(values).map((name) =>
        defineTool({ name, execute: () => values[name] }),
      );

      const { contents } = await runBatch(tools, Object.keys(values));

      expect(contents).to.deep.equal(['a "b"', 'Done', 'null', '[1,"x"]', '{"a":[true]}']);
    });

    it('a converter of a method or a function writes what the model reads', async () => {
      const asXml = (value: unknown): string => `<plant>${(value as Plant).name}</plant>`;
      class Catalogue {
        @Tool({ resultConverter: asXml })
        byMethod(): Plant | undefined {
          return PLANTS[7];
        }
      }
      const byFunction = defineTool({
        name: 'byFunction',
        resultConverter: asXml,
        execute: () => PLANTS[7],
      });

      const { contents, results } = await runBatch(
        [...toolsFrom(new Catalogue()), byFunction],
        ['byMethod', 'byFunction'],
      );

      expect(contents).to.deep.equal(['<plant>fern</plant>', '<plant>fern</plant>']);
      expect(results[1]?.result.value).to.deep.equal(PLANTS[7]);
    });

    it('a converter that fails leaves the value and the error to the application', async () => {
      const error = new Error('no XML today');
      const tool = defineTool({
        name: 'bad',
        resultConverter: () => {
          throw error;
        },
        execute: () => 1,
      });

      const { results } = await runBatch([tool], ['bad']);

      expect(results[0]?.result).to.include({ isError: true, value: 1, error });
      expect(results[0]?.result.content).to.include('has run').and.not.to.include('XML');
    });
  });
});
