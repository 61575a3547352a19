import type { Advisor, AroundChain, Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { UNTRUSTED } from '../../src/core/advisor/untrusted-text.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import type { Document } from '../../src/core/chat/document.js';
import { withModelCalls } from '../../src/core/chat/ledger-codec.js';
import { textOf, type UserMessage } from '../../src/core/chat/message.js';
import { checkOption, TEXT } from '../../src/core/internal/options.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';
import type { Query } from '../../src/knowledge/query.js';
import { contextText, limited, REFUSAL } from './context-text.js';
import { DOCUMENTS_STEP } from './documents-step.js';
import { findDocuments } from './find-documents.js';
import { judgedDocuments } from './judged-documents.js';
import {
  checkRetrievalOptions,
  filterOf,
  scopeOf,
  type RetrievalAdvisorOptions,
} from './retrieval-options.js';
import { findsSources, RETRIEVED_DOCUMENTS, toSources, type Source } from './source.js';
import { keepFound, withSources } from './with-sources.js';

/**
 * Finds documents for the question of the user, once per turn, and puts them beside it: a memory
 * stores the question alone. The answer has its sources, and the citations of them that it makes.
 */
export class RetrievalAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['retrieves', 'records-steps'] as const;

  /** @throws {@link InvalidArgumentError} if an option is missing or invalid */
  constructor(private readonly options: RetrievalAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkRetrievalOptions(options));
  }

  /**
   * @throws {@link RetrievalError} if the request has no scope, or a retriever fails; whatever another
   * part of the retrieval throws
   */
  async around(
    request: ChatClientRequest,
    next: Next,
    { emit }: AroundChain,
  ): Promise<ChatResponse> {
    const query = this.queryOf(request);
    if (!query) return withSources(await next(request), request.run);
    const sources = toSources(await this.judged(await this.find(query, request), request, emit));
    emit({ type: 'custom', name: 'sources', data: { origin: this.name, documents: sources } });
    const { onEmpty = 'tell', refusal = REFUSAL } = this.options;
    if (sources.length === 0 && onEmpty === 'refuse') return ChatResponse.ofText(refusal);
    const isShown = sources.length > 0 || onEmpty === 'tell';
    const shown = isShown ? this.withContext(request, sources, query) : request;
    return withSources(await next(shown), request.run, sources);
  }

  /** Keeps the documents that a `knowledgeTool` has found, also in a replay, for the answer. */
  async adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const result = await next(call);
    if (findsSources(call.tool.metadata)) keepFound(runOf(call.context), result.value);
    return result;
  }

  /** Undefined for a question without text. */
  private queryOf({ prompt, context, signal }: ChatClientRequest): Query | undefined {
    const { messages, userMessage } = prompt;
    const text = textOf(userMessage?.content ?? '');
    if (text.trim() === '') return undefined;
    const namespace = scopeOf(this.options.scope, context);
    const filter = filterOf(context);
    const before = messages.slice(0, messages.lastIndexOf(userMessage as UserMessage));
    const history = before.filter(({ role }) => role !== 'system');
    return { text, namespace, filter, history, context, signal };
  }

  /** A step of a durable turn: a replay searches nothing. */
  private find(
    query: Query,
    { run, observation }: ChatClientRequest,
  ): Promise<readonly Document[]> {
    const search = (): Promise<readonly Document[]> =>
      findDocuments(this.options, query, observation);
    return run.recorder.step('retrieval', search, withModelCalls(run, DOCUMENTS_STEP));
  }

  /** The documents that fit, as the guards let them pass. */
  private async judged(
    documents: readonly Document[],
    { run, context, cancellation }: ChatClientRequest,
    emit: AroundChain['emit'],
  ): Promise<readonly Document[]> {
    const { trusted, maxCharacters = 32_000 } = this.options;
    const fitting = limited(documents, maxCharacters);
    if (trusted) return fitting;
    const { name: origin } = this;
    return judgedDocuments(fitting, { origin, run, context, cancellation, emit });
  }

  /** The request with a message in front of the question. */
  private withContext(
    request: ChatClientRequest,
    sources: readonly Source[],
    query: Query,
  ): ChatClientRequest {
    const { template = contextText, trusted } = this.options;
    const content = template(sources, query);
    checkOption('RetrievalAdvisor', 'the result of template', content, TEXT);
    const { messages, userMessage } = request.prompt;
    const at = messages.lastIndexOf(userMessage as UserMessage);
    const isOfOthers = sources.length > 0 && !trusted;
    const message: UserMessage = {
      role: 'user',
      content,
      ...(isOfOthers && { metadata: UNTRUSTED }),
    };
    return request
      .withMessages(messages.toSpliced(at, 0, message))
      .withContext(RETRIEVED_DOCUMENTS, sources);
  }
}
