import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  modelRule,
  ObservabilityAdvisor,
  ToolCallingAdvisor,
  ToolCallingManager,
  ToolSearchAdvisor,
  ToolSelectorAdvisor,
  type Advisor,
  type ObservabilityAdvisorOptions,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedParts } from '../../src/testing/index.js';
import { recordSpans, type Recording } from './recorded-spans.js';
import type { Mode } from './modes.js';

export const usage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 15,
  cachedInputTokens: 4,
  reasoningTokens: 2,
};

export const weather = defineTool({
  name: 'get_weather',
  description: 'The weather of a city.',
  input: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sunny in ${city}.`,
});
const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new TypeError('no');
  },
});
const ticket = defineTool({ name: 'get_ticket', execute: () => 'T-1', returnDirect: true });

export const ask = (...names: readonly string[]): ScriptedParts => ({
  toolCalls: names.map((name) => ({
    name,
    arguments: name === 'get_weather' ? { city: 'Rome' } : {},
  })),
  usage,
});
export const answer = { text: 'It is sunny.', usage };

/** A kind of turn, and the spans that it is to have. */
export interface Scene {
  readonly name: string;
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly advisors?: () => readonly Advisor[];
  readonly tree: string;
}

const memory = (order: number, storeToolMessages: boolean): Advisor =>
  new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() }),
    order,
    storeToolMessages,
  });

const small = (answered: ScriptedParts | Error): ScriptedChatModel =>
  new ScriptedChatModel([answered], { model: 'small' });
const selector = (selected: ScriptedParts | Error): Advisor =>
  new ToolSelectorAdvisor({ model: small(selected), maxTools: 1 });

export const SCENES: readonly Scene[] = [
  {
    name: 'an answer',
    script: [answer],
    tree: `
invoke_agent
  advisor tool-calling
    chat scripted`,
  },
  {
    name: 'three iterations with parallel tools',
    script: [ask('get_weather', 'get_weather'), ask('get_weather', 'broken'), answer],
    tools: [weather, broken],
    tree: `
invoke_agent
  advisor tool-calling
    chat scripted
    execute_tool get_weather
    execute_tool get_weather
    chat scripted
    execute_tool get_weather
    execute_tool broken (error, TypeError, exception)
    chat scripted`,
  },
  {
    name: 'a result that is the answer',
    script: [ask('get_ticket')],
    tools: [ticket],
    tree: `
invoke_agent
  advisor tool-calling
    chat scripted
    execute_tool get_ticket`,
  },
  {
    name: 'calls that cannot run',
    script: [
      { toolCalls: [{ name: 'get_wether' }, { name: 'get_weather', arguments: { city: 1 } }] },
      answer,
    ],
    tools: [weather],
    tree: `
invoke_agent
  advisor tool-calling
    chat scripted
    execute_tool (unknown_tool, unknown_tool, exception)
    execute_tool get_weather (invalid_arguments, invalid_arguments, exception)
    chat scripted`,
  },
  {
    name: 'a limit of iterations',
    script: [ask('get_weather'), answer],
    tools: [weather],
    advisors: () => [new ToolCallingAdvisor({ maxIterations: 1 })],
    tree: `
invoke_agent
  advisor tool-calling (advisor_chain.limit)
    chat scripted
    execute_tool get_weather
    chat scripted`,
  },
  {
    name: 'a limit of calls',
    script: [ask('get_weather', 'get_weather')],
    tools: [weather],
    advisors: () => [
      new ToolCallingAdvisor({
        manager: new ToolCallingManager({ maxCallsPerTool: 1 }),
        onLimit: 'throw',
      }),
    ],
    tree: `
invoke_agent (error, limit_exceeded)
  advisor tool-calling (error, limit_exceeded, advisor_chain.limit, exception)
    chat scripted
    execute_tool get_weather
    execute_tool get_weather (refused, refused)`,
  },
  {
    name: 'a model that fails',
    script: [ask('get_weather'), new ModelCallError('no', { status: 429 })],
    tools: [weather],
    tree: `
invoke_agent (error, 429)
  advisor tool-calling (error, 429)
    chat scripted
    execute_tool get_weather
    chat scripted (error, 429, exception)`,
  },
  {
    name: 'memory outside of the loop',
    script: [ask('get_weather'), answer],
    tools: [weather],
    advisors: () => [memory(AdvisorOrder.MEMORY, false)],
    tree: `
invoke_agent
  advisor chat-memory
    advisor tool-calling
      chat scripted
      execute_tool get_weather
      chat scripted`,
  },
  {
    name: 'memory inside of the loop',
    script: [ask('get_weather'), answer],
    tools: [weather],
    advisors: () => [memory(AdvisorOrder.TOOL_CALLING + 1, true)],
    tree: `
invoke_agent
  advisor tool-calling
    advisor chat-memory
      chat scripted
    execute_tool get_weather
    advisor chat-memory
      chat scripted`,
  },
  {
    name: 'tool search',
    script: [
      { toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'weather' } }] },
      ask('get_weather'),
      answer,
    ],
    tools: [weather, broken],
    advisors: () => [new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() })],
    tree: `
invoke_agent
  advisor tool-search
    advisor tool-calling
      chat scripted
      execute_tool toolSearchTool
      chat scripted
      execute_tool get_weather
      chat scripted`,
  },
  {
    name: 'models that are asked beside the chain',
    script: [answer],
    tools: [weather, broken],
    advisors: () => [
      selector({ text: '{"tools":["get_weather"]}', usage }),
      new GuardAdvisor({
        input: [
          {
            rules: [
              modelRule({ name: 'crime', model: small({ text: 'ALLOW' }), forbids: 'crime' }),
            ],
            action: 'block',
          },
        ],
      }),
    ],
    tree: `
invoke_agent
  advisor guard
    advisor tool-selector
      advisor tool-calling
        chat scripted
  chat small
  chat small`,
  },
  {
    name: 'a model beside the chain that fails',
    script: [answer],
    tools: [weather, broken],
    advisors: () => [selector(new ModelCallError('offline'))],
    tree: `
invoke_agent
  advisor tool-selector
    advisor tool-calling
      chat scripted
  chat small (error, model_call, exception)`,
  },
];

export async function run(
  mode: Mode,
  scene: Scene,
  options: ObservabilityAdvisorOptions = {},
): Promise<Recording> {
  const recording = recordSpans();
  const client = ChatClient.builder(new ScriptedChatModel(scene.script))
    .defaultSystem('Be brief.')
    .defaultTools(...(scene.tools ?? []))
    .defaultAdvisors(
      new ObservabilityAdvisor({ tracer: recording.tracer, ...options }),
      ...(scene.advisors?.() ?? []),
    )
    .build();
  const spec = client
    .prompt('How is the weather?')
    .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'));
  const done =
    mode === 'call' ? spec.call().chatResponse() : lastValueFrom(spec.stream().chatResponse());
  await done.catch(() => undefined);
  return recording;
}
