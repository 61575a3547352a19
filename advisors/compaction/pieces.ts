import { callsOf, type AssistantMessage, type Message } from '../../src/core/chat/message.js';
import { isSummary } from './summary.js';

/** Messages that are kept or removed together, so that no call loses its result. */
export interface Piece {
  /** `iteration`: a message with calls, and their results; others are single messages. */
  readonly kind: 'system' | 'user' | 'iteration' | 'answer' | 'summary';
  readonly messages: readonly Message[];
  /** Number of the turn that it belongs to, from 0; -1 before the first one. */
  readonly turn: number;
  /** True for iterations with results of an excluded tool, which are never removed. */
  readonly isExcluded: boolean;
}

/** Splits a conversation; the pieces have all of its messages, in order. */
export type Split = (messages: readonly Message[]) => readonly Piece[];

/**
 * Makes a function that splits conversations of a run.
 * @param ownCalls ids of the calls of the run, by which its turn is known
 * @param excludeTools names of the tools whose iterations are never removed
 */
export function splitBy(ownCalls: ReadonlySet<string>, excludeTools: ReadonlySet<string>): Split {
  return (messages) => {
    const start = questionIndex(messages, ownCalls);
    const pieces: (Piece & { readonly messages: Message[] })[] = [];
    let turn = -1;
    let previous: Piece['kind'] | undefined;
    messages.forEach((message, at) => {
      const last = pieces.at(-1);
      const isExcluded = message.role === 'tool' && excludeTools.has(message.toolName);
      if (message.role === 'tool' && last?.kind === 'iteration') {
        last.messages.push(message);
        if (isExcluded) pieces[pieces.length - 1] = { ...last, isExcluded };
        return;
      }
      const kind = kindOf(message);
      // messages of the user in the middle of the present turn begin no other one
      if (kind === 'user' && previous !== 'user' && at <= start) turn++;
      if (kind !== 'summary' && kind !== 'system') previous = kind;
      pieces.push({ kind, messages: [message], turn, isExcluded });
    });
    return pieces;
  };
}

export function messagesOf(pieces: readonly Piece[]): readonly Message[] {
  return pieces.flatMap(({ messages }) => messages);
}

/** The latest iterations of the present turn. */
export function latestIterations(pieces: readonly Piece[], count: number): ReadonlySet<Piece> {
  const turn = pieces.at(-1)?.turn;
  const own = pieces.filter((piece) => piece.kind === 'iteration' && piece.turn === turn);
  return new Set(own.slice(-count));
}

/** Index of the question of this turn: the user messages before its first call, or the last ones. */
function questionIndex(messages: readonly Message[], ownCalls: ReadonlySet<string>): number {
  const isOwn = (message: Message): boolean =>
    message.role === 'assistant' && callsOf(message).some(({ id }) => ownCalls.has(id));
  const first = messages.findIndex(isOwn);
  const before = first < 0 ? messages : messages.slice(0, first);
  let start = before.findLastIndex((message) => message.role === 'user' && !isSummary(message));
  for (let at = start - 1; messages[at]?.role === 'user'; at--)
    if (!isSummary(messages[at] as Message)) start = at;
  return start;
}

function kindOf(message: Message): Piece['kind'] {
  if (message.role === 'system') return 'system';
  if (message.role === 'user') return isSummary(message) ? 'summary' : 'user';
  return hasCalls(message) ? 'iteration' : 'answer';
}

function hasCalls(message: Message): message is AssistantMessage {
  return message.role === 'assistant' && callsOf(message).length > 0;
}
