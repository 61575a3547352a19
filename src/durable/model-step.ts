import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { toDeltas } from '../advisor/checked-answer.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import {
  ownResponse,
  responseProblem,
  type ChatResponse,
  type Usage,
} from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import type { Mutable } from '../chat/loop-record.js';
import type { Prompt } from '../chat/prompt.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import { ChainError } from '../errors.js';
import { cancelledError, untilCancelled, type Cancellable } from '../internal/cancellation.js';
import type { JsonValue } from '../internal/json.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import { DurableRun } from './durable-run.js';
import { decodeError, encodeError, type EncodedError } from './error-codec.js';
import { decodeResponse, encodeResponse } from './response-codec.js';
import { checkInput, inputOf, type StepInput } from './step-input.js';

/** The end of a model call; `abandoned` if an advisor gave it up, such as one with a time limit. */
type ModelEnd =
  | { readonly response: ChatResponse }
  /** With the text that was streamed before the error. */
  | { readonly error: unknown; readonly text: string }
  | { readonly abandoned: true };

/** The recorded end of a model call. */
type RecordedEnd = StepInput & {
  readonly response?: JsonValue;
  readonly error?: EncodedError;
  readonly text?: string;
  /** Usage of answers that the model gave up before the error. */
  readonly spent?: JsonValue;
  readonly abandoned?: true;
};

type StepRun = ModelRun & Cancellable;

/** A model whose calls are steps of a durable turn, also those that fail. */
export class RecordedModel {
  /** Undefined if the turn is not durable. */
  static of(
    model: ChatModel,
    request: ChatClientRequest,
    record: Mutable<ModelCallRecord>,
  ): RecordedModel | undefined {
    const durable = DurableRun.of(request.run);
    return durable && new RecordedModel(model, durable, request, record);
  }

  private constructor(
    private readonly model: ChatModel,
    private readonly durable: DurableRun,
    private readonly request: ChatClientRequest,
    private readonly record: Mutable<ModelCallRecord>,
  ) {}

  async call(prompt: Prompt, run: StepRun): Promise<ChatResponse> {
    const { end } = await this.step(prompt, run, () => this.callModel(prompt, run));
    if ('response' in end) return end.response;
    if ('error' in end) throw end.error;
    return untilCancelled(new Promise<never>(() => undefined), run);
  }

  stream(prompt: Prompt, run: StepRun): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const streaming = (): Promise<ModelEnd> =>
        streamToEnd(this.model.stream(prompt, run), run, subscriber);
      const step = this.step(prompt, run, streaming);
      run.track?.(step);
      step.then(
        ({ end, isReplayed }) => emitEnd(end, isReplayed, subscriber),
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  private async callModel(prompt: Prompt, run: StepRun): Promise<ModelEnd> {
    const answer = this.model.call(prompt, run);
    run.track?.(answer);
    try {
      return { response: await untilCancelled(answer, run) };
    } catch (error) {
      return run.cancelled ? { abandoned: true } : { error, text: '' };
    }
  }

  /**
   * @param callModel never rejects
   * @throws the error of the engine, {@link CancelledError}, {@link NonDeterminismError}
   */
  private async step(
    prompt: Prompt,
    run: StepRun,
    callModel: () => Promise<ModelEnd>,
  ): Promise<{ readonly end: ModelEnd; readonly isReplayed: boolean }> {
    const { durable, request, record } = this;
    const name = durable.nameOf(`model ${request.iteration}`);
    const input = inputOf(request, prompt);
    let live: ModelEnd | undefined;
    const step = durable.stepOf(name, async () => {
      live = this.checked(await callModel());
      // a cancelled turn has not asked: it asks when it runs again
      if ('abandoned' in live && request.cancellation.cancelled) throw cancelledError();
      if ('abandoned' in live) durable.holdUntil(step);
      return this.encode(live, input);
    });
    const recorded = await step;
    if (live) return { end: live, isReplayed: false };
    if (!durable.engine.keepsAnswers) checkInput(name, recorded, input);
    record.isReplayed = true;
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
    const name = this.record.model ?? this.model.provider?.name;
    return name === undefined ? '' : `"${name}" `;
  }

  private encode(end: ModelEnd, input: StepInput): RecordedEnd {
    if ('abandoned' in end) return { ...input, abandoned: true };
    if ('response' in end) {
      const where = `the answer of the model ${this.quotedName()}`.trim();
      return { ...input, response: encodeResponse(end.response, where) };
    }
    const spent = this.record.usage as JsonValue | undefined;
    return {
      ...input,
      error: encodeError(end.error),
      ...(end.text !== '' && { text: end.text }),
      ...(spent !== undefined && { spent }),
    };
  }
}

/** Passes the deltas of a stream on; never rejects, except for a stream that breaks the contract. */
function streamToEnd(
  events: Observable<ChatEvent>,
  run: StepRun,
  subscriber: Subscriber<ChatEvent>,
): Promise<ModelEnd> {
  return new Promise((resolve, reject) => {
    let response: ChatResponse | undefined;
    let text = '';
    const release = run.onCancel(() => resolve({ abandoned: true }));
    const stream = events.subscribe({
      next: (event) => {
        if (event.type === 'text-delta') text += event.text;
        else if (event.type === 'retract') text = '';
        if (event.type === 'response') response = event.response;
        else subscriber.next(event);
      },
      error: (error: unknown) => resolve({ error, text }),
      complete: () => {
        if (response === undefined)
          reject(new ChainError('the model ended without a response event'));
        else resolve({ response });
      },
    });
    subscriber.add(stream);
    // also called at the end of the stream, which has settled the promise before
    subscriber.add(() => {
      release();
      resolve({ abandoned: true });
    });
  });
}

/** Emits the end of a call; the deltas of a replayed one, too. An abandoned one never ends. */
function emitEnd(end: ModelEnd, isReplayed: boolean, subscriber: Subscriber<ChatEvent>): void {
  if ('abandoned' in end) return;
  if ('error' in end) {
    if (isReplayed && end.text !== '') subscriber.next({ type: 'text-delta', text: end.text });
    return subscriber.error(end.error);
  }
  const { response } = end;
  if (isReplayed) for (const delta of toDeltas(response)) subscriber.next(delta);
  subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
  subscriber.complete();
}

function decodeEnd({ response, error, text = '' }: RecordedEnd): ModelEnd {
  if (response !== undefined) return { response: decodeResponse(response) };
  return error ? { error: decodeError(error), text } : { abandoned: true };
}
