import { ToolCallingAdvisor } from '../../advisors/tool-calling-advisor.js';
import { pairProblem } from '../../src/core/advisor/invariants.js';
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
  type Tool,
  type ToolDefinition,
} from '../../src/index.js';
import { TokenMeter } from '../../src/core/advisor/token-meter.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { runSpec, type Mode } from './modes.js';
import { recorder } from './turn.js';

const meter = new TokenMeter();

/** Tokens of a request as the model receives it: messages, and schemas of its tools. */
export function tokensOf({ messages, options }: Prompt): number {
  const schemas = (options.tools ?? []).map(({ definition }): Message => {
    const { name, description, inputSchema }: ToolDefinition = definition;
    return { role: 'system', content: JSON.stringify({ name, description, inputSchema }) };
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

/** Settings of a long turn. */
export interface LongTurn {
  /** Advisors beside the compaction. */
  readonly advisors?: readonly Advisor[];
  readonly tools?: readonly Tool[];
  readonly system?: string;
  readonly messages?: readonly Message[];
  /** Another answer than the next call; also an error. */
  readonly answer?: (prompt: Prompt, index: number) => ScriptedAnswer | undefined;
  /** Tokens that the model reports for a request. @default {@link tokensOf} */
  readonly report?: (prompt: Prompt) => number;
  readonly signal?: AbortSignal;
}

/** A tool whose results have these sizes, in characters; the number of the page is in the arguments. */
export function readPages(sizes: readonly number[]): Tool {
  return defineTool({
    name: 'read',
    description: 'Reads a page.',
    effect: 'read',
    execute: (_args, { call }) => {
      const { page } = JSON.parse(call.arguments) as { page: number };
      return `page ${page}: ${'x'.repeat(sizes[page] ?? 0)}`;
    },
  });
}

/** Runs a turn that reads pages of these sizes, one per iteration. */
export async function longTurn(
  mode: Mode,
  sizes: readonly number[],
  options: CompactionAdvisorOptions | readonly CompactionAdvisorOptions[],
  { advisors = [], tools = [], messages = [], system = 'Be brief.', ...turn }: LongTurn = {},
) {
  const { answer, report = tokensOf, signal = new AbortController().signal } = turn;
  let page = 0;
  const model = new ScriptedChatModel((prompt, index) => {
    const other = answer?.(prompt, index);
    if (other !== undefined) return other;
    const inputTokens = report(prompt);
    const usage = { inputTokens, outputTokens: 20, totalTokens: inputTokens + 20 };
    if (page >= sizes.length || !prompt.options.tools?.length) return { text: 'Done.', usage };
    const next = page++;
    return { usage, toolCalls: [{ id: `call_${next}`, name: 'read', arguments: { page: next } }] };
  });
  const events: ChatEvent[] = [];
  const all = [options].flat() as readonly CompactionAdvisorOptions[];
  const spec = ChatClient.create(model)
    .prompt()
    .system(system)
    .messages(...messages)
    .user('Read all pages.')
    .tools(readPages(sizes), ...tools)
    .signal(signal)
    .advisors(recorder(events), unlimited(), ...all.map((each) => new CompactionAdvisor(each)))
    .advisors(...advisors);
  const outcome = await runSpec(mode, spec).then(
    (response) => ({ response, error: undefined }),
    (error: unknown) => ({ response: undefined, error }),
  );
  return { ...outcome, prompts: model.prompts, events, reports: reportsOf(events) };
}
