import type { ChatEvent } from '../chat/chat-event.js';
import { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { textOf, type AssistantMessage, type Message } from '../chat/message.js';
import { withUniqueCallIds } from '../chat/tool-call-ids.js';
import type { Usage } from '../chat/usage.js';
import { offlineAnswer, type OfflineQuestion } from './offline-answer.js';

const PIECE = 12;

/** The answer of the offline model as a response, with ids, a finish reason and usage. */
export function offlineResponse(question: OfflineQuestion, model: string): ChatResponse {
  const { text, toolCalls } = offlineAnswer(question);
  const calls = toolCalls.map(({ name, args }) => ({ id: '', name, arguments: JSON.stringify(args) }));
  const message = withUniqueCallIds({ role: 'assistant', text, toolCalls: calls }, question.messages);
  const finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
  return new ChatResponse({ generations: [{ message, finishReason }], usage: usageOf(question, message), model });
}

/** A response as the events of a stream, in small pieces as real servers send them: words, and arguments cut anywhere. */
export function offlineEvents(response: ChatResponse): readonly ChatEvent[] {
  const { text, toolCalls } = response.message;
  const words = text?.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
  return [
    ...words.map((word) => ({ type: 'text-delta', text: word }) as const),
    ...toolCalls.flatMap(({ id, name, arguments: args }, index): ChatEvent[] => [
      { type: 'tool-call-delta', index, id, name, arguments: '' },
      ...pieces(args).map((piece) => ({ type: 'tool-call-delta', index, arguments: piece }) as const),
    ]),
    { type: 'response', response, context: AdvisorContext.empty },
  ];
}

function pieces(text: string): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) => text.slice(at * PIECE, (at + 1) * PIECE));
}

/** An estimate: four characters of a text, of arguments or of a tool's definition are one token. */
function usageOf({ messages, tools = [] }: OfflineQuestion, answer: AssistantMessage): Usage {
  const offered = tools.map((tool) => tool.name + tool.description + JSON.stringify(tool.inputSchema));
  const inputTokens = tokens([...messages.map(textIn), ...offered]);
  const outputTokens = tokens([textIn(answer)]);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function tokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);
}

function textIn(message: Message): string {
  switch (message.role) {
    case 'system':
      return message.text;
    case 'user':
    case 'tool':
      return textOf(message.content);
    case 'assistant':
      return (message.text ?? '') + message.toolCalls.map((call) => call.name + call.arguments).join('');
  }
}
