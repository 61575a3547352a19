import { toDeltas } from '../../core/advisor/event-subscribers.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ModelRun } from '../../core/chat/chat-model.js';
import {
  ownResponse,
  responseProblem,
  type ChatResponse,
  type Usage,
} from '../../core/chat/chat-response.js';
import { AdvisorContext } from '../../core/chat/context.js';
import type { Prompt } from '../../core/chat/prompt.js';
import {
  modelResult,
  type CallableModel,
  type ModelCallSite,
} from '../../core/chat/run-recorder.js';
import { ChainError } from '../../core/errors/errors.js';
import {
  cancelledError,
  untilCancelled,
  type Cancellable,
} from '../../core/internal/cancellation.js';
import { givenUpError } from '../../core/internal/give-up.js';
import type { JsonValue } from '../../core/internal/json.js';
import { Observable, type Subscriber } from '../../core/internal/rxjs.js';
import { decodeError, encodeError, type EncodedError } from '../../core/chat/error-codec.js';
import { decodeResponse, encodeResponse } from '../../core/chat/response-codec.js';
import { Abandonment, type Abandoned } from './abandonment.js';
import { checkInput, inputOf, type StepInput } from './step-input.js';

/** Texts that were streamed before the end of a call without a response. */
interface Streamed {
  readonly text?: string;
  readonly reasoning?: string;
}

/** The end of a model call. */
type ModelEnd =
  | { readonly response: ChatResponse }
  | ({ readonly error: unknown } & Streamed)
  | (Abandoned & Streamed);

/** The recorded end of a model call. */
type RecordedEnd = StepInput & {
  readonly response?: JsonValue;
  readonly error?: EncodedError;
  readonly text?: string;
  readonly reasoning?: string;
  /** Usage of answers that the model gave up before a failure. */
  readonly spent?: JsonValue;
  readonly abandoned?: string | true;
};

type StepRun = ModelRun & Cancellable;

/** The steps of the turn of a model call. */
export interface TurnSteps {
  /** True if recorded answers are kept although the request has changed since. */
  readonly keepsAnswers: boolean;
  nameOf(place: string): string;
  stepOf<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T>;
  /** Lets later steps begin when this recording has ended, however it ends. */
  holdUntil(recorded: Promise<unknown>): void;
}

/** A model whose calls are steps of a durable turn, also those that fail. */
export class RecordedModel implements CallableModel {
  constructor(
    private readonly model: CallableModel,
    private readonly steps: TurnSteps,
    private readonly site: ModelCallSite,
  ) {}

  async call(prompt: Prompt, run: StepRun): Promise<ChatResponse> {
    const abandonment = this.newAbandonment();
    const release = run.onCancel(abandonment.begin);
    const calling = (): Promise<ModelEnd> => this.callModel(prompt, run, abandonment);
    const { end } = await this.step(prompt, run, abandonment, calling).finally(release);
    if ('response' in end) return end.response;
    if ('error' in end) throw end.error;
    if (end.abandoned !== true) throw givenUpError(end.abandoned);
    return untilCancelled(new Promise<never>(() => undefined), run);
  }

  stream(prompt: Prompt, run: StepRun): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const abandonment = this.newAbandonment();
      subscriber.add(run.onCancel(abandonment.begin));
      subscriber.add(abandonment.begin);
      const streaming = (): Promise<ModelEnd> =>
        streamToEnd(
          modelResult(this.model.stream(prompt, run), 'subscribe'),
          subscriber,
          abandonment,
        );
      const step = this.step(prompt, run, abandonment, streaming);
      run.track?.(step);
      step.then(
        ({ end, isReplayed }) => emitEnd(end, isReplayed, subscriber),
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  private newAbandonment(): Abandonment {
    return new Abandonment((recorded) => this.steps.holdUntil(recorded));
  }

  private async callModel(
    prompt: Prompt,
    run: StepRun,
    abandonment: Abandonment,
  ): Promise<ModelEnd> {
    const answer = modelResult(this.model.call(prompt, run), 'then');
    run.track?.(answer);
    try {
      return { response: await untilCancelled(answer, run) };
    } catch (error) {
      return abandonment.end ?? { error };
    }
  }

  /**
   * @param callModel never rejects; is not called if the call is given up before
   * @throws the error of the engine, {@link CancelledError}, {@link NonDeterminismError}
   */
  private async step(
    prompt: Prompt,
    run: StepRun,
    abandonment: Abandonment,
    callModel: () => Promise<ModelEnd>,
  ): Promise<{ readonly end: ModelEnd; readonly isReplayed: boolean }> {
    const { steps, site } = this;
    const name = steps.nameOf(`model ${site.iteration}`);
    const input = inputOf(site, prompt);
    let live: ModelEnd | undefined;
    const step = steps.stepOf(name, async () => {
      live = this.checked(abandonment.end ?? (await callModel()));
      // a cancelled turn has not asked: its replay asks
      if ('abandoned' in live && site.isTurnCancelled()) throw cancelledError();
      return this.encode(live, input);
    });
    const recorded = await step.finally(abandonment.finish);
    if (live) return { end: live, isReplayed: false };
    if (!steps.keepsAnswers) checkInput(name, recorded, input);
    site.record.isReplayed = true;
    if (recorded.spent) run.onSpent?.(recorded.spent as unknown as Usage);
    return { end: decodeEnd(recorded), isReplayed: true };
  }

  /** @throws {@link ChainError} if a model in JavaScript answered with something else */
  private checked(end: ModelEnd): ModelEnd {
    if (!('response' in end)) return end;
    const problem = responseProblem(end.response);
    if (problem !== undefined)
      throw new ChainError(`the model ${this.quotedName()}must answer with ${problem}`);
    return { response: ownResponse(end.response) };
  }

  private quotedName(): string {
    const { name } = this.site;
    return name === undefined ? '' : `"${name}" `;
  }

  private encode(end: ModelEnd, input: StepInput): RecordedEnd {
    if ('response' in end) {
      const where = `the answer of the model ${this.quotedName()}`.trim();
      return { ...input, response: encodeResponse(end.response, where) };
    }
    const spent = this.site.record.usage as JsonValue | undefined;
    const own = 'error' in end ? { ...end, error: encodeError(end.error) } : end;
    return { ...input, ...own, ...(spent !== undefined && { spent }) };
  }
}

/** Passes the deltas of a stream on; never rejects, except for a stream that breaks the contract. */
function streamToEnd(
  events: Observable<ChatEvent>,
  subscriber: Subscriber<ChatEvent>,
  abandonment: Abandonment,
): Promise<ModelEnd> {
  return new Promise((resolve, reject) => {
    let response: ChatResponse | undefined;
    let streamed: Streamed = {};
    abandonment.onBegin = (end) => resolve({ ...end, ...streamed });
    const stream = events.subscribe({
      next: (event) => {
        streamed = withEvent(streamed, event);
        if (event.type === 'response') response = event.response;
        else subscriber.next(event);
      },
      error: (error: unknown) => resolve({ error, ...streamed }),
      complete: () => {
        if (response === undefined)
          reject(new ChainError('the model ended without a response event'));
        else resolve({ response });
      },
    });
    subscriber.add(stream);
  });
}

function withEvent(streamed: Streamed, event: ChatEvent): Streamed {
  const { text = '', reasoning = '' } = streamed;
  if (event.type === 'text-delta') return { ...streamed, text: text + event.text };
  if (event.type === 'reasoning-delta') return { ...streamed, reasoning: reasoning + event.text };
  return event.type === 'retract' ? {} : streamed;
}

/**
 * Emits the end of a call; the deltas of a replayed one, too. A call that was abandoned without a
 * reason never ends: what had ended it ends it again.
 */
function emitEnd(end: ModelEnd, isReplayed: boolean, subscriber: Subscriber<ChatEvent>): void {
  if (!('response' in end)) {
    const { text, reasoning } = end;
    if (isReplayed && reasoning)
      subscriber.next({ type: 'reasoning-delta', text: reasoning, isReplayed });
    if (isReplayed && text) subscriber.next({ type: 'text-delta', text, isReplayed });
    if ('error' in end) return subscriber.error(end.error);
    return end.abandoned === true ? undefined : subscriber.error(givenUpError(end.abandoned));
  }
  const { response } = end;
  if (isReplayed)
    for (const delta of toDeltas(response)) subscriber.next({ ...delta, isReplayed } as ChatEvent);
  subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
  subscriber.complete();
}

function decodeEnd({ response, error, abandoned = true, text, reasoning }: RecordedEnd): ModelEnd {
  if (response !== undefined) return { response: decodeResponse(response) };
  const streamed = { ...(text !== undefined && { text }), ...(reasoning && { reasoning }) };
  return error ? { error: decodeError(error), ...streamed } : { abandoned, ...streamed };
}
