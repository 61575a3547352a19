import { isDelta, type ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatModel, ModelRun } from '../../core/chat/chat-model.js';
import {
  addUsage,
  responseProblem,
  type ChatResponse,
  type Usage,
} from '../../core/chat/chat-response.js';
import { AdvisorContext } from '../../core/chat/context.js';
import { type AssistantMessage, callsOf, textOf, withoutCalls } from '../../core/chat/message.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { modelCallError } from '../../core/chat/run-record.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { Subscriber } from '../../core/internal/rxjs.js';
import { truncate } from '../../core/internal/text.js';
import { AnswerReader } from './answer-reader.js';
import { judgeAnswer, type Offer, type Verdict } from './offer.js';
import { correctionFor } from './plain-prompt.js';
import type { PlanSyntax } from './plan-syntax.js';
import type { WrittenCall } from './written-calls.js';

/** A request as text, and what its answer may contain. */
export interface PromptedRequest {
  readonly prompt: Prompt;
  readonly syntax: PlanSyntax;
  readonly offer: Offer;
}

/** Settings of a run. */
export interface RunSettings {
  readonly model: ChatModel;
  readonly maxRounds: number;
  readonly maxPlanLength: number;
}

/** Characters of a refused answer that are repeated to the model. */
const MAX_REPEATED = 4_000;

/** An answer of the model, in one or several rounds. */
export class PromptedRun {
  private prompt: Prompt;
  private rounds = 0;
  /** Usage of the rounds before. */
  private spent: Usage | undefined;

  constructor(
    readonly request: PromptedRequest,
    readonly settings: RunSettings,
    readonly mode: 'call' | 'stream',
    private readonly run: ModelRun,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    this.prompt = request.prompt;
  }

  start(): void {
    const { model } = this.settings;
    const round = new Round(this, this.subscriber);
    this.rounds++;
    try {
      if (this.mode === 'stream') model.stream(this.prompt, this.run).subscribe(round);
      else void model.call(this.prompt, this.run).then(...round.settle);
    } catch (error) {
      round.error(error);
    }
  }

  /** The answer with the usage of all rounds. */
  toResponse(
    response: ChatResponse,
    message: AssistantMessage,
    finishReason: string | undefined,
  ): ChatResponse {
    const generation = { ...response.result, message };
    return response.with({
      generations: [finishReason === undefined ? generation : { ...generation, finishReason }],
      usage: addUsage(this.spent, response.usage),
    });
  }

  /** Counts the usage of an answer that is not used. */
  spend(usage: Usage | undefined): void {
    this.spent = addUsage(this.spent, usage);
    if (usage) this.run.onSpent?.(usage);
  }

  /** Asks for another answer; after the last round the run ends with an error. */
  askAgain({ message, usage }: ChatResponse, issues: readonly string[]): void {
    const { run, rounds, settings, request } = this;
    this.spend(usage);
    const problem = `The model wrote neither a usable call nor an answer, in ${rounds} of ${settings.maxRounds} rounds: ${issues.join('; ')}`;
    const error = new ModelCallError(problem, {
      retryable: true,
      usage: run.onSpent ? undefined : this.spent,
      model: this.prompt.options.model ?? settings.model.defaultOptions.model,
    });
    if (rounds >= settings.maxRounds) return this.subscriber.error(error);
    run.onRetry?.(error);
    if (this.subscriber.closed) return; // cancelled by a listener
    const text = truncate(textOf(message).trim() || '(no text)', MAX_REPEATED);
    this.prompt = this.prompt.append(
      { role: 'assistant', content: text },
      { role: 'user', content: correctionFor(issues, request.offer) },
    );
    this.start();
  }
}

/** One request to the model. */
class Round extends Subscriber<ChatEvent> {
  private reader: AnswerReader;
  private hasEmitted = false;

  constructor(
    private readonly parent: PromptedRun,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
    this.reader = this.newReader();
  }

  /** The callbacks for the promise of a call. */
  get settle(): readonly [(response: ChatResponse) => void, (error: unknown) => void] {
    return [
      (response) => {
        this.next({ type: 'response', response, context: AdvisorContext.empty });
        this.complete();
      },
      (error) => this.error(error),
    ];
  }

  protected override _next(event: ChatEvent): void {
    try {
      this.receive(event);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  /** Leaves a plan out of the text that an error reports as received. */
  protected override _error(error: unknown): void {
    try {
      const { partialText } = modelCallError(error) ?? {};
      const reader = this.newReader();
      reader.read(partialText ?? '');
      if (partialText) Object.assign(error as object, { partialText: reader.text });
    } catch {
      // a plan that is too long, or an error that cannot be changed: the error itself must arrive
    }
    super._error(error);
  }

  private receive(event: ChatEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.reader.read(event.text);
        // a plain answer would be refused
        if (!this.parent.request.offer.requiresCall) this.emitText();
        return;
      case 'tool-call-delta':
        return; // of a call that is checked first
      case 'response':
        return responseProblem(event.response) === undefined
          ? this.end(event.response)
          : this.subscriber.next(event);
      default:
        if (event.type === 'retract') this.reset();
        this.emit(event);
    }
  }

  private end(response: ChatResponse): void {
    const verdict = this.judge(response);
    if (!('issues' in verdict)) return this.accept(response, verdict);
    if (this.hasEmitted) this.subscriber.next({ type: 'retract', iteration: 0 });
    this.unsubscribe();
    this.parent.askAgain(response, verdict.issues);
  }

  private judge({ message, usage }: ChatResponse): Verdict {
    const { syntax, offer } = this.parent.request;
    try {
      this.reader.read(textOf(message).slice(this.reader.length));
      this.reader.end();
      return judgeAnswer(message, this.reader, syntax, offer);
    } catch (error) {
      this.parent.spend(usage); // of an answer that is too long
      throw error;
    }
  }

  private accept(response: ChatResponse, calls: readonly WrittenCall[]): void {
    const { finishReason = 'stop' } = response;
    const message = this.toMessage(response.message, calls);
    const isCall = calls.length > 0;
    this.emitText();
    if (this.reader.thought !== '')
      this.emit({ type: 'reasoning-delta', text: this.reader.thought });
    for (const [index, { id, name, arguments: text }] of callsOf(message).entries())
      this.emit({ type: 'tool-call-delta', index, id, name, arguments: text });
    const reason = isCall && finishReason === 'stop' ? 'tool_calls' : response.finishReason;
    this.subscriber.next({
      type: 'response',
      response: this.parent.toResponse(response, message, reason),
      context: AdvisorContext.empty,
    });
  }

  private toMessage(message: AssistantMessage, calls: readonly WrittenCall[]): AssistantMessage {
    const { text, thought } = this.reader;
    const isEmpty = text === '' && (calls.length > 0 || message.content === null);
    const toolCalls = calls.map(({ name, arguments: args }) => {
      return { id: '', name, arguments: JSON.stringify(args) };
    });
    const reasoning = [message.reasoning, thought].filter(Boolean).join('\n');
    const changed = {
      ...withoutCalls(message),
      content: isEmpty ? null : text,
      ...(toolCalls.length > 0 && { toolCalls }),
    };
    return reasoning === '' ? changed : { ...changed, reasoning };
  }

  private emitText(): void {
    const text = this.reader.take();
    if (text !== '') this.emit({ type: 'text-delta', text });
  }

  private emit(event: ChatEvent): void {
    if (isDelta(event)) {
      if (this.parent.mode === 'call') return;
      this.hasEmitted = true;
    }
    this.subscriber.next(event);
  }

  /** Forgets an answer that the model has given up itself. */
  private reset(): void {
    this.reader = this.newReader();
    this.hasEmitted = false;
  }

  private newReader(): AnswerReader {
    const { request, settings } = this.parent;
    return new AnswerReader(request.syntax, settings.maxPlanLength);
  }
}
