import {
  BudgetAdvisor,
  ChatClient,
  defineTool,
  type BudgetAdvisorOptions,
  type ChatModel,
  type Tool,
  type Usage,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedParts } from '../../src/testing/index.js';

/** A usage of some tokens, one of them of output. */
export const usage = (tokens: number): Usage => ({
  inputTokens: tokens - 1,
  outputTokens: 1,
  totalTokens: tokens,
});
export const answers = (text: string, tokens = 100): ScriptedParts => ({
  text,
  usage: usage(tokens),
});
/** An answer with calls of the tool `look`. */
export const asks = (tokens = 100, count = 1): ScriptedParts => ({
  toolCalls: Array.from({ length: count }, (_, at) => ({ name: 'look', arguments: { at } })),
  usage: usage(tokens),
});
/** A model that asks for tools as long as some are offered. */
export const eager = (tokens = 100): ScriptedChatModel =>
  new ScriptedChatModel(({ options }, index) =>
    options.tools?.length
      ? { toolCalls: [{ name: 'look', arguments: { index } }], usage: usage(tokens) }
      : answers('done', tokens),
  );
const look = defineTool({ name: 'look', execute: () => 'something' });

export const clientOf = (
  model: ChatModel,
  budget: BudgetAdvisor | BudgetAdvisorOptions,
  tool: Tool = look,
) =>
  ChatClient.builder(model)
    .defaultAdvisors(budget instanceof BudgetAdvisor ? budget : new BudgetAdvisor(budget))
    .defaultTools(tool)
    .build();
