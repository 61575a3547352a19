import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { ChatClient, defineTool, Prompt, PromptedToolsModel, type Tool } from '../../src/index.js';
import type { OfferedTool } from '../../src/core/chat/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { dropOptionalNulls } from '../../src/core/json-schema/drop-optional-nulls.js';
import { normalizeSchema } from '../../src/core/json-schema/index.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { isJson, loadCassettes, type Interaction } from './cassettes.js';
import { failureOf, MODES, runSpec } from './modes.js';
import { STYLES, type WantedCall } from './plan-styles.js';
import { FORMATS, planOf, type Format } from './prompted-tools.js';
import { answerOf } from './recorded-answer.js';
import { taskOf } from './recorded-request.js';
import { readLines, requireToolsets, type PublishedTool } from './toolsets.js';

interface PublishedCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: WantedCall['arguments'];
}

/** Number of cases by what happened to the first answer. */
type Counts = Record<string, number>;

const styles = Object.entries(STYLES);

/** Tests with calls of published benchmarks and of recordings. @param step takes one of so many */
export function testPlanStyles(step: number): void {
  describe('PromptedToolsModel with plans in many styles', function () {
    this.timeout(120_000);

    for (const set of ['bfcl-v1', 'bfcl-live'])
      it(`runs no wrong call of ${set}`, async function () {
        requireToolsets(this);
        const counts: Counts = {};
        const cases = publishedCases(set, step);

        for (const [at, { tools, wanted, ran, query }] of cases.entries()) {
          const format = FORMATS[at % 3] as Format;
          const [name, style] = styles[at % styles.length] as (typeof styles)[number];
          const answers = [
            style.write(wanted, format),
            planOf(format, wanted.name, wanted.arguments),
            'Done.',
          ];
          const plain = new ScriptedChatModel(
            (_prompt, index) => answers[style.fate === 'runs' && index > 0 ? 2 : index] ?? 'Done.',
          );
          const client = ChatClient.create(new PromptedToolsModel({ model: plain, format }));
          ran.length = 0;

          const mode = MODES[at % 2] as 'call' | 'stream';
          const failure = await failureOf(runSpec(mode, client.prompt(query).tools(...tools)));

          expect(failure, name).to.equal(undefined);
          const checked = checkedCall(tools, wanted);
          const isValid = checked !== undefined;
          const runs = isValid && style.fate !== 'answers';
          expect(ran, `${name}, ${format}: ${answers[0]}`).to.deep.equal(runs ? [checked] : []);
          const outcome = runs ? style.fate : isValid ? 'answers' : 'refused';
          counts[outcome] = (counts[outcome] ?? 0) + 1;
          if (runs) expect(plain.prompts, name).to.have.lengthOf(style.fate === 'runs' ? 2 : 3);
        }
        console.log(`      ${set}: ${JSON.stringify(counts)}`);
      });

    it('makes no wrong call of the tools of the recordings', async function () {
      const recorded = loadCassettes(this)
        .flatMap(({ interactions }) => interactions.flatMap(recordedCase))
        .filter((_each, at) => at % step === 0);
      const counts: Counts = {};

      for (const [at, { prompt, wanted }] of recorded.entries())
        for (const [name, style] of styles.filter(
          (_style, of) => step === 1 || of === at % styles.length,
        )) {
          const format = FORMATS[at % 3] as Format;
          const syntax = { first: style.write(wanted, format), then: 'Fine.' };
          const plain = new ScriptedChatModel((_prompt, index) =>
            index === 0 ? syntax.first : syntax.then,
          );
          const model = new PromptedToolsModel({ model: plain, format });

          const { message } = await model.call(prompt);

          const offered = prompt.options.tools ?? [];
          const runs = style.fate === 'runs' && checkedCall(offered, wanted) !== undefined;
          const calls = callsOf(message).map((call) => [
            call.name,
            JSON.parse(call.arguments) as unknown,
          ]);
          expect(calls, `${name}, ${format}: ${syntax.first}`).to.deep.equal(
            runs ? [[wanted.name, wanted.arguments]] : [],
          );
          counts[runs ? 'runs' : style.fate] = (counts[runs ? 'runs' : style.fate] ?? 0) + 1;
        }
      console.log(`      recordings: ${recorded.length} turns, ${JSON.stringify(counts)}`);
      expect(recorded).to.have.length.above(0);
    });
  });
}

function publishedCases(set: string, step: number) {
  const published = [`${set}.tools.jsonl`, `${set}.variants.jsonl`].flatMap((file) =>
    readLines<PublishedTool>(file),
  );
  const queries = new Map(
    readLines<{ id: string; query: string }>(`${set}.queries.jsonl`).map((each) => [
      each.id,
      each.query,
    ]),
  );
  const byId = new Map(published.map((each) => [each.id, each]));
  return readLines<PublishedCall>(`${set}.calls.jsonl`)
    .filter((_call, at) => at % step === 0)
    .map(({ id, tool: toolId, arguments: args }, at) => {
      const ran: WantedCall[] = [];
      const right = byId.get(toolId) as PublishedTool;
      const others = [at * 7, at * 7 + 1]
        .map((each) => published[each % published.length] as PublishedTool)
        .filter(({ name }) => portable(name) !== portable(right.name));
      const unique = new Map([...others, right].map((each) => [portable(each.name), each]));
      const tools = [...unique.values()].map((each) => toTool(each, ran));
      return {
        tools,
        ran,
        wanted: { name: portable(right.name), arguments: args },
        query: queries.get(id) ?? 'Go.',
      };
    });
}

const portable = (name: string): string => name.replaceAll(/[^\w-]/g, '_').slice(0, 64);

function toTool(published: PublishedTool, ran: WantedCall[]): Tool {
  const { description, inputSchema } = published;
  const name = portable(published.name);
  return defineTool({
    name,
    description,
    input: normalizeSchema(inputSchema, name).schema,
    execute: (args) => {
      ran.push({ name, arguments: args as WantedCall['arguments'] });
      return 'ok';
    },
  });
}

/** The call without nulls for absent arguments; undefined if it does not fit its schema. */
function checkedCall(tools: readonly OfferedTool[], call: WantedCall): WantedCall | undefined {
  const tool = tools.find(({ definition }) => definition.name === call.name);
  if (!tool) return undefined;
  const { inputSchema } = tool.definition;
  const args = dropOptionalNulls(call.arguments as JsonValue, inputSchema);
  const isValid = 'value' in jsonSchemaValidator(inputSchema)(args);
  return isValid ? { ...call, arguments: args as WantedCall['arguments'] } : undefined;
}

/** The request of a recording that offers tools, and the call of its answer, or one of its first tool. */
function recordedCase({ request, response }: Interaction) {
  const { messages, options } = taskOf(request.body);
  const [first] = options.tools ?? [];
  if (!first) return [];
  const call =
    'body' in response || 'sse' in response ? answerOf(response).choices[0]?.calls[0] : undefined;
  const args = call && parse(call.arguments);
  const wanted =
    call && isJson(args)
      ? { name: call.name, arguments: args }
      : { name: first.definition.name, arguments: {} };
  return [{ prompt: new Prompt(messages, { tools: options.tools }), wanted }];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
