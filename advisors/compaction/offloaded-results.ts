import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import {
  CONVERSATION_ID,
  TurnId,
  type AdvisorContext,
  RunSlot,
} from '../../src/core/chat/context.js';
import { textOf, type Message, type ToolMessage } from '../../src/core/chat/message.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import type { Tool, ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';
import { idIn, newId, OffloadNote } from './offload-note.js';
import {
  checkOffloadOptions,
  type OffloadOptions,
  type ResultOffloaded,
} from './offload-options.js';
import { readResultTool } from './read-result-tool.js';
import { ResultStore } from './result-store.js';

/** Maximum number of characters that stay in sight. */
const IN_SIGHT = 2_000;
/** Characters of the heading of what is read. */
const HEADING = 200;

/** Names of the tools that the advisors of a run have. */
const reserved = new RunSlot<Set<string>>();

interface RunState {
  /** Scope of the results of a run without a conversation; its id is made on access. */
  scope: TurnId;
  /** True from the first offloaded result on, so that the tools of the run change once at most. */
  isOffered: boolean;
  isScanned: boolean;
  hasTools: boolean;
  isInLoop: boolean;
}

/**
 * Results that are too long for the conversation: their beginning and end stay there, the whole is
 * in a store, from which the model reads with a tool. It is offered once there is something to read.
 */
export class OffloadedResults {
  readonly tool: Tool;
  private readonly store: ResultStore;
  private readonly over: number;
  private readonly inSight: number;
  private readonly note: OffloadNote;
  private readonly runs = new RunSlot<RunState>();
  private readonly withTool = memoize((tools: readonly Tool[]) => [...tools, this.tool]);
  private readonly checkNames = memoize((tools: readonly Tool[]) => this.checkTools(tools));

  /**
   * @param where begins the messages of errors
   * @throws {@link InvalidArgumentError} if an option is invalid
   */
  constructor(
    private readonly where: string,
    options: OffloadOptions,
  ) {
    const { store, over, ttl, toolName } = checkOffloadOptions(where, options);
    this.store = new ResultStore(store, ttl);
    this.over = over;
    this.inSight = Math.min(IN_SIGHT, over / 2);
    this.note = new OffloadNote(toolName);
    this.tool = readResultTool(toolName, over - HEADING, (id, context, run) =>
      this.find(id, context, run),
    );
  }

  /** Runs a tool, and offloads its result if that is long. A failure of the store is an event. */
  async offloadResult(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const result = await next(call);
    const { tool, context } = call;
    const text = textOf(result.content);
    if (text.length <= this.over || this.isExempt(tool)) return result;
    const run = RunRecord.of(context.signal);
    if (!this.canBeRead(context.advisorContext, run)) return result;
    const newIdOf = await this.idsOf(run, call.call);
    const scope = this.scopeOf(context.advisorContext, run);
    const { id: callId, name: toolName } = context.call;
    const emit = (data: Pick<ResultOffloaded, 'id' | 'error'>): void =>
      context.emit({
        type: 'custom',
        name: 'result-offloaded',
        data: { toolName, callId, length: text.length, ...data },
      });
    try {
      const id = await this.store.keep(text, scope, newIdOf(text, callId));
      emit({ id });
      return {
        ...result,
        content: withText(result.content, this.note.shorten(text, id, this.inSight)),
      };
    } catch (error) {
      emit({ error });
      return result;
    }
  }

  /**
   * The message with the beginning and the end of its result, the whole of which is kept; the same
   * message if that is not longer.
   * @throws the error of the store
   */
  async offload(message: ToolMessage, request: ChatClientRequest): Promise<ToolMessage> {
    const text = textOf(message.content);
    const isOwn = message.toolName === this.tool.definition.name;
    if (isOwn || text.length <= 2 * this.inSight) return message;
    const newIdOf = await this.idsOf(request.run);
    const scope = this.scopeOf(request.context, request.run);
    const id = await this.store.keep(text, scope, newIdOf(text, message.toolCallId));
    this.stateOf(request.run).isOffered = true;
    return {
      ...message,
      content: withText(message.content, this.note.shorten(text, id, this.inSight)),
    };
  }

  /**
   * The request with the tool, if there is something to read in the conversation.
   * @throws {@link InvalidArgumentError} if another tool has its name
   */
  offer(request: ChatClientRequest): ChatClientRequest {
    const { tools, run, prompt } = request;
    this.checkNames(tools);
    const state = this.stateOf(run);
    if (!state.isOffered) state.isOffered = this.isIn(prompt.messages, state.isScanned);
    state.isScanned = true;
    state.isInLoop = request.base !== undefined;
    // the loop takes all tools away for a last answer
    const isLast = state.hasTools && tools.length === 0;
    state.hasTools ||= tools.length > 0;
    if (!state.isOffered || isLast || tools.includes(this.tool)) return request;
    return request.withTools(this.withTool(tools));
  }

  /** @param onlyLatest true if only the results at the end are new */
  private isIn(messages: readonly Message[], onlyLatest: boolean): boolean {
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at] as Message;
      // a summary, which is a message of the user, may name an id as well
      if (message.role === 'tool' || message.role === 'user') {
        if (this.note.isNamedIn(textOf(message.content))) return true;
      } else if (onlyLatest) return false;
    }
    return false;
  }

  /** The note in an offloaded result that names its id; undefined in any other. */
  noteIn(text: string): string | undefined {
    return this.note.of(text);
  }

  /** Ids of results: random ones, and the same in each replay of a durable turn. */
  private async idsOf(
    run: RunRecord | undefined,
    call?: object,
  ): Promise<(text: string, callId: string | undefined) => string> {
    const secret = await run?.recorder.secret(call);
    if (!run || secret === undefined) return () => newId();
    this.stateOf(run).scope = new TurnId(sha256Hex(secret));
    return (text, callId) => newId(JSON.stringify([secret, callId, text]));
  }

  private async find(
    given: string,
    context: AdvisorContext,
    run: RunRecord | undefined,
  ): Promise<string | undefined> {
    const scope = this.scopeOf(context, run);
    const id = idIn(given);
    return id && this.store.find(id, scope);
  }

  /** The conversation whose turns may read a result, or else the run, which alone may. */
  private scopeOf(context: AdvisorContext, run: RunRecord | undefined): string {
    const conversation = context.get(CONVERSATION_ID);
    if (conversation === undefined) return `run:${run ? this.stateOf(run).scope.id : ''}`;
    // a key has a maximum length, and texts that a store cannot keep
    return `conversation:${sha256Hex(JSON.stringify(conversation))}`;
  }

  /** False in a loop of the application without a conversation: its next model call is another run. */
  private canBeRead(context: AdvisorContext, run: RunRecord | undefined): boolean {
    const isInLoop = run !== undefined && this.stateOf(run).isInLoop;
    return isInLoop || context.get(CONVERSATION_ID) !== undefined;
  }

  private stateOf(run: RunRecord): RunState {
    const known = this.runs.get(run);
    if (known) return known;
    this.reserveName(run);
    return this.runs.set(run, {
      scope: new TurnId(),
      isOffered: false,
      isScanned: false,
      hasTools: false,
      isInLoop: false,
    });
  }

  /** At once: the tool of another advisor would be found when the turn has done half of its work. */
  private reserveName(run: RunRecord): void {
    const { name } = this.tool.definition;
    const names = reserved.get(run) ?? reserved.set(run, new Set());
    if (names.has(name)) throw this.nameIsTaken();
    names.add(name);
  }

  /** Its own results would be offloaded again; an answer of the turn and lists of tools must be whole. */
  private isExempt(tool: Tool): boolean {
    const { returnDirect, findsTools } = tool.metadata;
    return returnDirect === true || findsTools === true || this.isOwn(tool);
  }

  private isOwn({ definition }: Tool): boolean {
    return definition.name === this.tool.definition.name;
  }

  private checkTools(tools: readonly Tool[]): void {
    if (tools.some((tool) => tool !== this.tool && this.isOwn(tool))) throw this.nameIsTaken();
  }

  private nameIsTaken(): InvalidArgumentError {
    return new InvalidArgumentError(
      `${this.where}: another tool has the name "${this.tool.definition.name}" of the tool that reads offloaded results; set offload.toolName`,
    );
  }
}

/** Content with one text in the place of its texts; media stay. */
function withText(content: ToolMessage['content'], text: string): ToolMessage['content'] {
  if (typeof content === 'string') return text;
  const first = content.findIndex((part) => part.type === 'text');
  return content
    .filter(({ type }, at) => type !== 'text' || at === first)
    .map((part) => (part.type === 'text' ? { ...part, text } : part));
}
