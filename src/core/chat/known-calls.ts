import { callsOf, type ToolCall } from './message.js';
import type { MessageFold } from './prompt.js';

/** Names that every API accepts. */
export const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
/** Characters that an id has at most in the Responses API and in Bedrock. */
export const LONGEST_ID = 64;
/** Characters of an id or a name of a model that are hashed: a model may write 64 MB. */
export const HASHED_LENGTH = 1_000;

/** The calls of a conversation. */
export interface KnownCalls {
  /** All that identify a call, here or for a model. */
  readonly ids: Set<string>;
  /** Ids that go to the model, by the ids here: legal ones that no call before has. */
  readonly wireIds: Map<string, string>;
  /** Names of tools that are not legal everywhere. */
  readonly names: Set<string>;
  count: number;
}

// a value has one successor, which may change it
export const foldCalls: MessageFold<KnownCalls> = (
  known = { ids: new Set(), wireIds: new Map(), names: new Set(), count: 0 },
  added,
) => {
  for (const message of added) {
    if (message.role === 'tool' && !LEGAL_NAME.test(message.toolName))
      known.names.add(message.toolName);
    for (const call of callsOf(message)) addCall(known, call);
  }
  return known;
};

function addCall(known: KnownCalls, { id, wireId, name }: ToolCall): void {
  const { ids, wireIds, names } = known;
  ids.add(id);
  if (wireId !== undefined && wireId.length <= LONGEST_ID && !ids.has(wireId)) {
    ids.add(wireId);
    wireIds.set(id, wireId);
  }
  if (!LEGAL_NAME.test(name)) names.add(name);
  known.count++;
}
