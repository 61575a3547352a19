import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { estimateTokens } from '../memory/chat-memory.js';

const tokensOfDefinition = new WeakMap<object, number>();

/** Estimates the tokens of a model call: those of its messages and tools, and the most it may write. */
export function estimateCallTokens({ prompt, tools }: ChatClientRequest): number {
  let tokens = prompt.options.maxTokens ?? 0;
  for (const message of prompt.messages) tokens += estimateTokens(message);
  for (const { definition } of tools) tokens += estimateDefinition(definition);
  return tokens;
}

/** Once for each definition: a catalogue would be written as JSON in every iteration. */
function estimateDefinition(definition: object): number {
  const known = tokensOfDefinition.get(definition);
  if (known !== undefined) return known;
  const tokens = Math.ceil(JSON.stringify(definition).length / 4);
  tokensOfDefinition.set(definition, tokens);
  return tokens;
}
