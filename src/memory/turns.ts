import type { Message } from '../chat/message.js';
import type { StoredMessage } from './chat-memory-repository.js';

/** The messages of one turn: from a message of the user up to the answer. */
export interface StoredTurn {
  readonly turnId: string | undefined;
  readonly messages: readonly Message[];
  /** Whether it begins with what the user said; if not, its beginning may be in an earlier part of the log. */
  readonly hasBeginning: boolean;
}

interface OpenTurn extends StoredTurn {
  readonly messages: Message[];
}

/**
 * The turns of a part of a log, without system messages, in the order of their beginnings: the messages of a turn are together, also
 * where another turn was written at the same time. What no turn wrote is split where the user speaks. Results of tools belong to the
 * turn that called these.
 */
export function turnsOf(stored: readonly StoredMessage[]): readonly StoredTurn[] {
  const turns: OpenTurn[] = [];
  const byId = new Map<string, OpenTurn>();
  for (const { turnId, message } of stored) {
    if (message.role === 'system') continue;
    const known = turnId === undefined ? undefined : byId.get(turnId);
    const turn = known ?? turnBefore(turnId, message, turns) ?? begin(turnId, message, turns);
    turn.messages.push(message);
    if (turnId !== undefined) byId.set(turnId, turn);
  }
  return turns;
}

/** The turn that a message goes on with, though it is the first of its own. */
function turnBefore(turnId: string | undefined, message: Message, turns: readonly OpenTurn[]): OpenTurn | undefined {
  if (message.role === 'user') return undefined;
  if (turnId === undefined) return turns.at(-1);
  return message.role === 'tool'
    ? turns.findLast((turn) => turn.messages.some((earlier) => hasCall(earlier, message.toolCallId)))
    : undefined;
}

function hasCall(message: Message, id: string): boolean {
  return message.role === 'assistant' && message.toolCalls.some((call) => call.id === id);
}

function begin(turnId: string | undefined, message: Message, turns: OpenTurn[]): OpenTurn {
  const turn: OpenTurn = { turnId, messages: [], hasBeginning: message.role === 'user' };
  turns.push(turn);
  return turn;
}

/** A turn that is under way is the last one, also where another turn began later. */
export function withLast(turns: readonly StoredTurn[], turnId: string | undefined): readonly StoredTurn[] {
  const current = turnId === undefined ? undefined : turns.find((turn) => turn.turnId === turnId);
  return current ? [...turns.filter((turn) => turn !== current), current] : turns;
}
