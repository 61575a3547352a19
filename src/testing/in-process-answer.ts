import type { ChatEvent } from '../chat/chat-event.js';
import type { ModelRun } from '../chat/chat-model.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { onRunCancel, cancelledError } from '../internal/cancellation.js';
import { Observable } from '../internal/rxjs.js';

/** The answer of a model in this process. */
export interface InProcessAnswer {
  readonly response: ChatResponse;
  /** The text in pieces, for streams. @default its words */
  readonly pieces?: readonly string[] | undefined;
  /** Pieces of the arguments of a tool call, for streams. @default all in one piece */
  readonly argumentPiece?: RegExp;
  /** Emitted in place of the response. */
  readonly error?: unknown;
  /** Milliseconds before each event; 0 emits all of them within the subscription. */
  readonly delay: number;
}

/**
 * Emits an answer, until the run is cancelled.
 * @param makeAnswer called for each subscription, unless the run was cancelled before
 * @param onUnfinished called if a subscription ends before the response or the error
 */
export function answerEvents(
  run: ModelRun,
  mode: 'call' | 'stream',
  makeAnswer: () => InProcessAnswer,
  onUnfinished: () => void = () => undefined,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    subscriber.add(onRunCancel(run, (cause) => subscriber.error(cancelledError(cause))));
    if (subscriber.closed) return;
    const answer = makeAnswer();
    const { response, error, delay } = answer;
    const deltas = mode === 'stream' ? deltasOf(answer) : [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let emitted = 0;
    subscriber.add(() => {
      clearTimeout(timer);
      if (emitted <= deltas.length) onUnfinished();
    });
    const emitNext = (): void => {
      const delta = deltas[emitted++];
      if (delta) {
        subscriber.next(delta);
        if (delay > 0 && !subscriber.closed) timer = setTimeout(emitNext, delay);
        return;
      }
      if (error !== undefined) return subscriber.error(error);
      subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
      subscriber.complete();
    };
    if (delay > 0) timer = setTimeout(emitNext, delay);
    else while (!subscriber.closed) emitNext();
  });
}

function deltasOf({
  response,
  pieces = response.text?.match(/\S+\s*|\s+/g) ?? [],
  argumentPiece = /[^]+/g,
}: InProcessAnswer): readonly ChatEvent[] {
  const { reasoning, toolCalls } = response.message;
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...pieces.map((text) => ({ type: 'text-delta', text }) as const),
    ...toolCalls.flatMap(({ id, name, arguments: all }, index) =>
      (all.match(argumentPiece) ?? ['']).map((args, at) => {
        const first = at === 0 && { id, name };
        return { type: 'tool-call-delta', index, ...first, arguments: args } as const;
      }),
    ),
  ];
}

/** The response at the end of an answer. */
export function responseOf(events: Observable<ChatEvent>): Promise<ChatResponse> {
  return new Promise((resolve, reject) => {
    events.subscribe({
      next: (event) => {
        if (event.type === 'response') resolve(event.response);
      },
      error: reject,
    });
  });
}
