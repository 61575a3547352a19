import type { ResponseEvent } from '../chat/chat-event.js';
import { ChatResponse, type ChatResponseFields } from '../chat/chat-response.js';
import { AdvisorContext, type ContextKey } from '../chat/context.js';
import { frozenStep, type ModelCallRecord, type RunReport, type Step } from '../chat/run-report.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { Message } from '../chat/message.js';
import { frozenFields } from '../internal/frozen-copy.js';
import type { JsonValue } from '../internal/json.js';
import { checkOption, withMethods } from '../internal/options.js';
import { safeJson } from '../internal/safe-json.js';
import type { ToolRun } from '../tool-execution/tool-run.js';
import { toolRunOfAnswer } from './run-tools.js';

const RESPONSE = withMethods('a ChatResponse', 'hasToolCalls');

/** The complete answer of a model with the context of its request. */
export class ChatClientResponse<T extends OfferedTool = OfferedTool> extends ChatResponse {
  /** The answer without the context. */
  readonly chatResponse: ChatResponse;

  /** @throws {@link InvalidArgumentError} if `response` is not a response */
  constructor(
    response: ChatResponse,
    readonly context: AdvisorContext = AdvisorContext.empty,
    /** Report of the run, as `error.run` of a failed one. */
    readonly run?: RunReport,
  ) {
    checkOption('ChatClientResponse', 'response', response, RESPONSE);
    super(response);
    this.chatResponse =
      'chatResponse' in response ? (response as ChatClientResponse).chatResponse : response;
    if (new.target === ChatClientResponse) Object.freeze(this);
  }

  /** The response of an event. */
  static of({ response, context, run }: ResponseEvent): ChatClientResponse {
    return new ChatClientResponse(response, context, run);
  }

  /** The iterations of the run so far: each with its response, tool calls and results. */
  get steps(): readonly Step<T>[] {
    return Object.freeze((this.run?.steps ?? []).map(frozenStep)) as readonly Step<T>[];
  }

  /** All model calls of the run so far, also those that failed or were refused. */
  get ledger(): readonly ModelCallRecord[] {
    return Object.freeze((this.run?.ledger ?? []).map(frozenFields));
  }

  /**
   * The price of all model calls of the run so far, if the client has a `price`. Undefined if that
   * does not know the price of one of them; `response.ledger.map(price)` shows of which.
   */
  get cost(): number | undefined {
    return this.run?.cost;
  }

  /** The messages of the run, with the answer, as the tool loop has kept them. */
  get transcript(): readonly Message[] {
    return this.run?.transcript ?? [];
  }

  /**
   * The options of `executeToolCalls` for open calls of this answer: the tools that the model was
   * offered, `adviseToolCall` of the advisors, the tool context, the limits and the steps of the
   * run. Add a `signal` where calls may be cancelled.
   * @throws {@link InvalidArgumentError} if the response comes from no run of a client
   */
  tools(): ToolRun {
    return toolRunOfAnswer(this.run);
  }

  /** The fields of the answer, the names of the context and the report, for `JSON.stringify`. */
  override toJSON(): JsonValue {
    const { chatResponse, context, run } = this;
    return safeJson({ ...chatResponse, context, run }, Infinity) ?? null;
  }

  override with(fields: Partial<ChatResponseFields>): ChatClientResponse<T> {
    return new ChatClientResponse(this.chatResponse.with(fields), this.context, this.run);
  }

  /** A copy with one more value in its context. */
  withContext<V>(key: ContextKey<V>, value: V): ChatClientResponse<T> {
    return new ChatClientResponse(this.chatResponse, this.context.with(key, value), this.run);
  }

  /** The event that ends a run with this response. */
  toEvent(): ResponseEvent {
    return { type: 'response', response: this.chatResponse, context: this.context };
  }
}
