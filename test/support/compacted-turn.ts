import { ToolCallingAdvisor } from '../../advisors/tool-calling-advisor.js';
import { pairProblem } from '../../src/advisor/invariants.js';
import {
  ChatClient,
  CompactionAdvisor,
  defineTool,
  ToolCallingManager,
  type Advisor,
  type ChatEvent,
  type CompactionAdvisorOptions,
  type CompactionReport,
  type Message,
  type Prompt,
  type ToolDefinition,
} from '../../src/index.js';
import { TokenMeter } from '../../src/compaction/token-meter.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { runSpec, type Mode } from './modes.js';
import { recorder } from './turn.js';

const meter = new TokenMeter();

/** Tokens of a request as the model receives it: messages, and schemas of its tools. */
export function tokensOf({ messages, options }: Prompt): number {
  const schemas = (options.tools ?? []).map(({ definition }): Message => {
    const { name, description, inputSchema }: ToolDefinition = definition;
    return { role: 'system', text: JSON.stringify({ name, description, inputSchema }) };
  });
  return meter.ofAll([...messages, ...schemas]);
}

/** Number of requests that do not begin with all messages of the one before. */
export function prefixChanges(prompts: readonly Prompt[]): number {
  const texts = prompts.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  return texts.filter((own, at) => {
    const before = texts[at - 1] ?? [];
    return before.some((text, index) => own[index] !== text);
  }).length;
}

/** The first broken pair of a call and its result in some requests. */
export function brokenPair(prompts: readonly Prompt[]): string | undefined {
  return prompts.map(pairProblem).find((problem) => problem !== undefined);
}

/** The reports of the events of a run. */
export function reportsOf(events: readonly ChatEvent[]): readonly CompactionReport[] {
  return events.flatMap((event) =>
    event.type === 'custom' && event.name === 'compaction' ? [event.data] : [],
  );
}

/** A tool loop that ends with the script. */
const unlimited = (): Advisor =>
  new ToolCallingAdvisor({
    maxIterations: Infinity,
    maxModelCalls: Infinity,
    manager: new ToolCallingManager({
      maxCallsPerTool: Infinity,
      maxTotalCalls: Infinity,
    }),
  });

/** Runs a turn whose tool results have these sizes, in characters. */
export async function longTurn(
  mode: Mode,
  sizes: readonly number[],
  options: CompactionAdvisorOptions,
) {
  const model = new ScriptedChatModel((prompt, index) => {
    const inputTokens = tokensOf(prompt);
    const usage = { inputTokens, outputTokens: 20, totalTokens: inputTokens + 20 };
    if (index >= sizes.length) return { text: 'Done.', usage };
    return { usage, toolCalls: [{ id: `call_${index}`, name: 'read', arguments: { page: index } }] };
  });
  const read = defineTool({
    name: 'read',
    description: 'Reads a page.',
    effect: 'read',
    execute: (_args, { call }) => {
      const { page } = JSON.parse(call.arguments) as { page: number };
      return `page ${page}: ${'x'.repeat(sizes[page] ?? 0)}`;
    },
  });
  const events: ChatEvent[] = [];
  const spec = ChatClient.create(model)
    .prompt()
    .system('Be brief.')
    .user('Read all pages.')
    .tools(read)
    .advisors(recorder(events), unlimited(), new CompactionAdvisor(options));
  const response = await runSpec(mode, spec);
  return { response, prompts: model.prompts, events };
}
