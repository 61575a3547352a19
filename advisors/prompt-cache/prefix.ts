import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatOptions } from '../../src/core/chat/chat-options.js';
import type { MessageFold } from '../../src/core/chat/prompt.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import { memoize } from '../../src/core/internal/memoize.js';
import {
  digestOfMessage,
  digestOfProviderTool,
  digestOfTool,
  isSameDigest,
  type Digest,
} from './digest.js';

/** The parts of a request that a provider caches, in its order; tools come first. */
export const PARTS = ['tools', 'system', 'messages'] as const;
export type PrefixPart = (typeof PARTS)[number];

/** The first items of a list that only grows, so that prompts of a loop share it. */
export interface DigestList {
  readonly items: readonly Digest[];
  readonly length: number;
}

/** A request, as far as a provider caches it. */
export interface Prefix extends Readonly<Record<PrefixPart, DigestList>> {
  readonly model: string | undefined;
  /** Estimated tokens. */
  readonly tokens: number;
}

/** The prefix of a request; of a prompt that has grown, only the new messages are visited. */
export function prefixOf({ prompt, offeredTools }: ChatClientRequest): Prefix {
  const { options } = prompt;
  const isPlain = options.tools === undefined && options.providerTools === undefined;
  const tools = isPlain ? toList(offeredTools) : toListWith(options)(offeredTools);
  const { system, messages, tokens } = prompt.fold(foldMessages);
  return { model: options.model, tools, system, messages, tokens: tokens + tools.tokens };
}

/** The place of the first item that differs in two lists. */
export function firstDifference(before: DigestList, now: DigestList): number | undefined {
  const shared = Math.min(before.length, now.length);
  if (before.items !== now.items)
    for (let at = 0; at < shared; at++)
      if (!isSameDigest(before.items[at], now.items[at])) return at;
  return before.length === now.length ? undefined : shared;
}

/** The item at a place; undefined after the end. */
export function itemAt({ items, length }: DigestList, index: number): Digest | undefined {
  return index < length ? items[index] : undefined;
}

/** Estimated tokens of a list from a place on. */
export function tokensFrom({ items, length }: DigestList, index: number): number {
  return items.slice(index, length).reduce((sum, { tokens }) => sum + tokens, 0);
}

type ToolList = DigestList & { readonly tokens: number };

const toList = memoize((tools: readonly OfferedTool[]): ToolList => listOf(tools, {}));
const toListWith = memoize((options: ChatOptions) =>
  memoize((tools: readonly OfferedTool[]): ToolList => listOf(tools, options)),
);

function listOf(
  offered: readonly OfferedTool[],
  { tools = [], providerTools = [] }: ChatOptions,
): ToolList {
  const items = [
    // those that the provider hides are not in its prefix
    ...[...tools, ...offered].flatMap(({ definition }) =>
      definition.deferLoading ? [] : [digestOfTool(definition)],
    ),
    ...providerTools.map(digestOfProviderTool),
  ];
  const list = { items, length: items.length };
  return { ...list, tokens: tokensFrom(list, 0) };
}

interface FoldedMessages {
  readonly system: DigestList;
  readonly messages: DigestList;
  readonly tokens: number;
}

const foldMessages: MessageFold<FoldedMessages> = (before, added) => {
  // earlier values keep their lengths
  const system = (before?.system.items ?? []) as Digest[];
  const messages = (before?.messages.items ?? []) as Digest[];
  let tokens = before?.tokens ?? 0;
  for (const message of added) {
    const digest = digestOfMessage(message);
    const isLeading = message.role === 'system' && messages.length === 0;
    (isLeading ? system : messages).push(digest);
    tokens += digest.tokens;
  }
  return {
    system: { items: system, length: system.length },
    messages: { items: messages, length: messages.length },
    tokens,
  };
};
