import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { Observable } from '../rxjs.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** A member of the chain. Whether it acts once per turn or once per iteration is decided by its order alone. */
export interface Advisor {
  readonly name: string;
  /** Lower runs first on the way in and last on the way out; see `AdvisorOrder`. */
  readonly order: number;
  /** What other parts must know of the advisor: it runs tools, supplies the history of the conversation, or hides tools. */
  readonly role?: 'tool-loop' | 'chat-memory' | 'tool-search';
  /** Around the rest of the chain, for `call` and `stream` alike. */
  advise?(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent>;
  /** Around one tool call. */
  adviseToolCall?(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult>;
}

/** The chain as one of its advisors sees it. */
export interface AdvisorChain {
  /** The rest of the chain. Cold; may be called and subscribed zero, one or many times (loop, retry, fallback). */
  readonly next: (request: ChatClientRequest) => Observable<ChatEvent>;
  /** All advisors of the chain, in order. */
  readonly advisors: readonly Advisor[];
}
