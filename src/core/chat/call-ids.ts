import { mapOrSame } from '../internal/map-or-same.js';
import { sha256Hex } from '../internal/text.js';
import type { ToolCallDelta } from './chat-event.js';
import type { ChatResponse } from './chat-response.js';
import type { TurnId } from './context.js';
import { foldCalls, HASHED_LENGTH, LONGEST_ID, type KnownCalls } from './known-calls.js';
import { type AssistantMessage, callsOf } from './message.js';
import { isCallId } from './open-calls.js';
import type { Prompt } from './prompt.js';

/** Small numbers, by which a model counts the calls of an answer, or of what it reads. */
const COUNTER =
  /^(?:functions\.[\w.-]+:|(?:(?:tool|function|call|use|fc)s?[_-]?)*)\d{1,4}(?:_\d+)?$/i;
/** Characters that providers accept, or that their adapters map. */
const LEGAL = /^[\w.:-]+$/;
/** Length of the ids that are made here: Mistral takes no others. */
const ID_LENGTH = 9;

/** The place of an answer. */
interface AnswerPlace {
  readonly turn: TurnId;
  readonly iteration: number;
  /** The conversation as the model knows it. */
  readonly prompt: Prompt;
}

/**
 * Gives the tool calls of one answer their identity: an id that is unique in the conversation, also
 * among messages that the model did not get, the same when the turn runs again, and legal at every
 * provider. The id of the model stays if it is so already; otherwise it is kept as `wireId`.
 */
export class CallIds {
  private readonly deltas = new Map<number, { readonly given: string; readonly id: string }>();

  private ofDeltas = newTaken();
  private knownCalls: KnownCalls | undefined;

  constructor(private readonly place: AnswerPlace) {}

  /** The piece with the id that its call has in the answer. */
  ofDelta(delta: ToolCallDelta): ToolCallDelta {
    const { index, id: given } = delta;
    if (given === undefined) return delta;
    const known = this.deltas.get(index);
    if (known?.given === given) return known.id === given ? delta : { ...delta, id: known.id };
    const { id } = this.give(given, this.ofDeltas);
    this.deltas.set(index, { given, id });
    return id === given ? delta : { ...delta, id };
  }

  /** Forgets the pieces so far: another answer follows. */
  reset(): void {
    this.deltas.clear();
    this.ofDeltas = newTaken();
  }

  ofResponse(response: ChatResponse): ChatResponse {
    const generations = mapOrSame(response.generations, (generation) => {
      const message = this.ofMessage(generation.message);
      return message === generation.message ? generation : { ...generation, message };
    });
    return generations === response.generations ? response : response.with({ generations });
  }

  private ofMessage(message: AssistantMessage): AssistantMessage {
    const { ids, count } = this.known;
    const taken = newTaken();
    const calls = callsOf(message);
    const toolCalls = mapOrSame(calls, (call, at) => {
      const { id, wireId } = this.give(call.id, taken);
      if (id === call.id) return call;
      return { ...call, id, wireId: wireId ?? freeName(ids, count + at + 1) };
    });
    return toolCalls === calls ? message : { ...message, toolCalls };
  }

  /** @param taken ids of other calls of the answer */
  private give(given: string | undefined, taken: TakenIds): Identity {
    const { ids } = this.known;
    const isTaken = (id: string): boolean => taken.ids.has(id) || ids.has(id);
    if (isCallId(given) && isLasting(given) && !isTaken(given)) {
      taken.ids.add(given);
      return { id: given };
    }
    const wireId = isCallId(given) ? given : undefined;
    for (let count = taken.counts.get(wireId) ?? 0; ; count++) {
      const id = this.derive(wireId ?? '', count);
      if (isTaken(id)) continue;
      taken.ids.add(id);
      taken.counts.set(wireId, count + 1);
      return { id, wireId };
    }
  }

  private derive(given: string, count: number): string {
    const { turn, iteration } = this.place;
    const hash = sha256Hex(
      JSON.stringify([turn.id, iteration, given.slice(0, HASHED_LENGTH), count]),
    );
    const digits = Number.parseInt(hash.slice(0, ID_LENGTH + 3), 16).toString(36);
    return digits.slice(-ID_LENGTH).padStart(ID_LENGTH, '0');
  }

  private get known(): KnownCalls {
    return (this.knownCalls ??= this.place.prompt.fold(foldCalls));
  }
}

const isLasting = (id: string): boolean =>
  id.length <= LONGEST_ID && LEGAL.test(id) && !COUNTER.test(id);

/** Ids of the calls of one answer so far, and the next number of each given id. */
interface TakenIds {
  readonly ids: Set<string>;
  readonly counts: Map<string | undefined, number>;
}

const newTaken = (): TakenIds => ({ ids: new Set(), counts: new Map() });

interface Identity {
  readonly id: string;
  /** Undefined if the model gave none, or if it is the id. */
  readonly wireId?: string | undefined;
}

/** A name for a call to which the model gave none. */
function freeName(ids: ReadonlySet<string>, from: number): string {
  let number = from;
  while (ids.has(`call_${number}`)) number++;
  return `call_${number}`;
}
