import type { ResponseFormat, ToolChoice } from '../chat/chat-options.js';
import type { Message } from '../chat/message.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { jsonReply } from './offline-json.js';
import { Planner, type PlannedCall } from './offline-plan.js';
import { replyTo } from './offline-reply.js';
import { isToolSearch, planSearch } from './offline-tool-search.js';
import { turnOf, type Turn } from './offline-turn.js';

/** What the offline model reads. */
export interface OfflineQuestion {
  readonly messages: readonly Message[];
  /** @default [] */
  readonly tools?: readonly ToolDefinition[];
  /** @default 'auto' */
  readonly toolChoice?: ToolChoice | undefined;
  /** Whether it may call several tools at once. @default true */
  readonly parallelToolCalls?: boolean | undefined;
  /** With a schema the text is JSON that has what the question and the results say. @default 'text' */
  readonly responseFormat?: ResponseFormat | undefined;
}

/** What the offline model says: a text or tool calls. */
export interface OfflineAnswer {
  readonly text: string | null;
  readonly toolCalls: readonly PlannedCall[];
}

/**
 * The decision of the offline model, on plain data: calls the tools whose words fit those of the user (English), with arguments
 * from the text and from earlier results, and answers with the results when there is nothing left to call. Where none fits, a tool
 * that finds tools is asked first. The same input gives the same answer. It invents no values: what it cannot find it asks for.
 */
export function offlineAnswer(question: OfflineQuestion): OfflineAnswer {
  const { messages, tools = [], toolChoice = 'auto', parallelToolCalls = true, responseFormat } = question;
  const whole = turnOf(messages);
  const turn = withoutSearches(whole, tools);
  const usable = toolChoice === 'none' ? [] : tools.filter((tool) => !isToolSearch(tool));
  const forced = typeof toolChoice === 'object' ? usable.find((tool) => tool.name === toolChoice.tool) : toolChoice === 'required';
  const { calls, lacks } = new Planner(turn, usable).plan(forced);
  if (calls.length > 0) return { text: null, toolCalls: parallelToolCalls ? calls : calls.slice(0, 1) };
  const searches = turn.answered.length === 0 && lacks.length === 0 && toolChoice !== 'none' ? planSearch(whole, tools) : [];
  if (searches.length > 0) return { text: null, toolCalls: searches };
  const schema = typeof responseFormat === 'object' ? responseFormat.schema : turn.schema;
  return { text: schema ? jsonReply(turn, schema) : replyTo(turn, lacks, tools), toolCalls: [] };
}

/** What a search for tools has said is no answer for the user. */
function withoutSearches(turn: Turn, tools: readonly ToolDefinition[]): Turn {
  const searches = new Set(tools.filter(isToolSearch).map(({ name }) => name));
  return searches.size === 0 ? turn : { ...turn, answered: turn.answered.filter(({ name }) => !searches.has(name)) };
}
