import { retry } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  CONVERSATION_ID,
  defineTool,
  defineToolProvider,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ToolCallingAdvisor,
  ToolCallingManager,
  ToolSearchAdvisor,
  type Advisor,
  type ChatMemoryRepository,
  type PromptSpec,
  type Tool,
} from '../../src/index.js';
import type { ScriptedAnswer } from '../../src/testing/index.js';
import type { FaultPlan } from './fault-plan.js';
import { faulty } from './faulty-parts.js';

/** Parts that a reference turn is built of. */
export interface TurnParts {
  readonly plan: FaultPlan;
  readonly repository: ChatMemoryRepository;
  /** An effect per line: `tool call-id key`. */
  readonly effects: string[];
}

/** A turn whose operations fail one after another. */
export interface ReferenceTurn {
  readonly script: readonly ScriptedAnswer[];
  readonly build: (spec: PromptSpec, parts: TurnParts) => PromptSpec;
  /** Schema of the value that the caller asks for. */
  readonly schema?: (plan: FaultPlan) => z.ZodType;
  readonly hasMemory?: true;
  /** True if one failure of the model does not change the answer. */
  readonly retriesModel?: true;
}

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const ask = (...calls: readonly string[]): ScriptedAnswer => ({
  usage,
  toolCalls: calls.map((call) => {
    const [name = '', id = ''] = call.split(' ');
    return { id: `n${id}`, name, arguments: name === 'toolSearchTool' ? { query: id } : { id } };
  }),
});
const input = z.object({ id: z.string() });

/** A tool that reads, one that pays once per key, and one that books each time. */
function toolsOf({ plan, effects }: TurnParts): readonly Tool[] {
  const tool = (name: string, effect: 'read' | 'idempotent' | 'write'): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input,
      effect,
      ...(effect === 'idempotent' && { retries: 1 }),
      concurrencyKey: ({ id }) => plan.perform('hook', () => `${name} ${id}`),
      resultConverter: (value) => plan.perform('hook', () => String(value)),
      execute: async (_args, { call, idempotencyKey, progress }) => {
        progress('half');
        await Promise.resolve();
        return plan.perform('tool', () => {
          effects.push(`${name} ${call.id} ${idempotencyKey}`);
          return `result of ${call.id}`;
        });
      },
    });
  return [tool('look', 'read'), tool('pay', 'idempotent'), tool('book', 'write')];
}

/** The tools from a provider; one more is found by name. */
function withTools(spec: PromptSpec, parts: TurnParts): PromptSpec {
  const { plan } = parts;
  const [look, pay, book] = toolsOf(parts) as [Tool, Tool, Tool];
  const provider = defineToolProvider({
    name: 'provider',
    tools: async () => plan.perform('hook', () => [look, pay]),
  });
  const manager = new ToolCallingManager({
    resolver: (name) => plan.perform('hook', () => (name === 'book' ? book : undefined)),
  });
  const loop = new ToolCallingAdvisor({
    manager,
    toolExecutionEligibilityChecker: (response) =>
      plan.perform('hook', () => response.hasToolCalls()),
  });
  return spec.tools(provider).advisors(loop);
}

function memoryOf({ plan, repository }: TurnParts, options: object): Advisor {
  const chatMemory = new MessageWindowChatMemory({
    repository: faulty(plan, 'store', repository),
    maxTokens: 1,
    tokenCounter: () => plan.perform('hook', () => 1),
    trim: (messages) => plan.perform('hook', () => messages),
    onOversizedTurn: () => plan.perform('listener', () => undefined),
  });
  return new MessageChatMemoryAdvisor({ chatMemory, ...options });
}

const inMemory = (spec: PromptSpec, parts: TurnParts, options: object): PromptSpec =>
  spec.advisors(memoryOf(parts, options), (a) => a.param(CONVERSATION_ID, 'c'));

const withSearch = (spec: PromptSpec, parts: TurnParts): PromptSpec =>
  spec
    .tools(toolsOf(parts))
    .advisors(
      new ToolSearchAdvisor({ toolIndex: faulty(parts.plan, 'index', new KeywordToolIndex()) }),
    );

const SEARCHING = [ask('toolSearchTool look'), ask('look 1', 'pay 2'), { text: 'Done.', usage }];

/** Turns of every kind that the parts of this library make up. */
export const REFERENCE_TURNS: Readonly<Record<string, ReferenceTurn>> = {
  'an answer': { script: [{ text: 'Hello there.', usage }], build: (spec) => spec },
  'a long answer with reasoning': {
    script: [{ reasoning: 'Well.', deltas: ['One ', 'two ', 'three'], usage }],
    build: (spec, { plan }) =>
      spec
        .templateRenderer((text) => plan.perform('hook', () => text))
        .system('Be {how}.', { how: 'brief' }),
  },
  'parallel tools': {
    script: [ask('look 1', 'pay 2', 'book 3', 'no 4'), ask('look 5'), { text: 'Done.', usage }],
    build: withTools,
  },
  'a memory around the loop': {
    script: [ask('look 1', 'book 2'), { text: 'Done.', usage }],
    build: (spec, parts) => inMemory(withTools(spec, parts), parts, { storeToolMessages: true }),
    hasMemory: true,
  },
  'a memory around the loop, with tool search': {
    script: SEARCHING,
    build: (spec, parts) => inMemory(withSearch(spec, parts), parts, {}),
    hasMemory: true,
  },
  'a memory inside the loop, with tool search': {
    script: SEARCHING,
    build: (spec, parts) =>
      inMemory(withSearch(spec, parts), parts, { order: AdvisorOrder.TOOL_CALLING + 1 }),
    hasMemory: true,
  },
  'a value, with retries': {
    script: [ask('look 1'), { text: '{"n":1}', usage }],
    build: (spec, parts) =>
      withTools(spec, parts).advisors({
        name: 'retries',
        order: AdvisorOrder.RESILIENCE + 1,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      }),
    schema: (plan) => z.object({ n: z.number().refine(() => plan.perform('hook', () => true)) }),
    retriesModel: true,
  },
};
