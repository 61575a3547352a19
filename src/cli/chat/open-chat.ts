import { randomBytes } from 'node:crypto';
import type { Advisor } from '../../core/advisor/advisor.js';
import { cancellationOf, untilCancelled } from '../../core/internal/cancellation.js';
import { chooseModel } from '../choose-model.js';
import { findClient, isClient, loadModule } from '../load-module.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import { approvalAdvisor } from './chat-advisors.js';
import { rolesOf, toClient, toolsIn, type ClientParts } from './chat-client.js';
import { ChatHistory } from './chat-history.js';
import { ChatSession, type NamedClient } from './chat-session.js';
import type { ChatSettings } from './chat-settings.js';
import { McpServers } from './mcp-servers.js';
import type { Screen } from './screen.js';
import { serverQuestions } from './server-questions.js';
import { SessionRecorder } from './session-recorder.js';
import { TerminalDecisions, type AskLine } from './terminal-decisions.js';

/** A session that is ready for its first question. */
export interface OpenChat {
  readonly session: ChatSession;
  /** Lines about its parts. */
  readonly summary: readonly string[];
}

/** Closes what was opened, the last first; a failure of one keeps the others from nothing. */
export class Closers {
  private readonly all: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.all.unshift(close);
  }

  async close(): Promise<void> {
    for (const close of this.all.splice(0)) await close().catch(() => undefined);
  }
}

/**
 * Opens the parts of a chat: module, model, MCP servers, memory.
 * @throws {@link UsageError}, and errors of the parts; what was opened is in `closers`
 */
export function openChat(
  settings: ChatSettings,
  terminal: Terminal,
  screen: Screen,
  askLine: AskLine,
  closers: Closers,
): Promise<OpenChat> {
  // a module may wait for anything while it is loaded
  const cancellation = cancellationOf(terminal.signal);
  return untilCancelled(open(settings, terminal, screen, askLine, closers), cancellation);
}

async function open(
  settings: ChatSettings,
  terminal: Terminal,
  screen: Screen,
  askLine: AskLine,
  closers: Closers,
): Promise<OpenChat> {
  const loaded = await loadParts(settings, terminal);
  const { hasMemory, hasApproval } = rolesOf(loaded.client);
  checkMemory(settings, hasMemory);
  // a server may ask before the session has begun
  const begun: { session?: ChatSession } = {};
  const decisions = new TerminalDecisions(screen, askLine, () => begun.session?.cancelTurn());
  const questions = serverQuestions(decisions, () => begun.session?.isRunning === true);
  const servers = await openServers(settings, terminal, questions, closers);
  const { conversation = `chat-${randomBytes(6).toString('hex')}` } = settings;
  const history = hasMemory
    ? undefined
    : await openHistory(settings, terminal, conversation, closers);
  const recorder = await SessionRecorder.open();
  const isAsking = settings.approve !== undefined || !hasApproval;
  const advisors: readonly Advisor[] = [
    ...recorder.advisors,
    ...(history ? [history.advisor()] : []),
    ...(isAsking ? [approvalAdvisor(settings.approve ?? 'writes', decisions)] : []),
  ];
  const { system } = settings;
  const tools = [...loaded.tools, ...(servers ? [servers.tools] : [])];
  const parts = { ...loaded, tools, advisors, system };
  const session = (begun.session = await ChatSession.start({
    screen,
    decisions,
    history,
    conversationId: conversation,
    recorder,
    cwd: terminal.cwd,
    clientOf: (name) => namedClient(name ?? settings.model, parts, terminal),
  }));
  return {
    session,
    summary: [...(servers?.summary ?? []), ...(await describe(history, settings))],
  };
}

async function loadParts(
  { module }: ChatSettings,
  terminal: Terminal,
): Promise<Pick<ClientParts, 'client' | 'tools'>> {
  if (module === undefined) return { tools: [] };
  const exports = await loadModule(module, terminal);
  const tools = toolsIn(exports);
  const hasClient = Object.values(exports).some(isClient);
  // without tools, its error names what is missing
  if (tools.length > 0 && !hasClient) return { tools };
  return { client: findClient(exports, module), tools: [] };
}

function checkMemory({ memory, conversation, module }: ChatSettings, hasMemory: boolean): void {
  if (memory !== undefined && hasMemory)
    throw new UsageError(`the client of ${module} has a memory of its own; leave out --memory`);
  if (conversation !== undefined && memory === undefined && !hasMemory)
    throw new UsageError('--conversation needs --memory with the file that keeps it');
}

async function openServers(
  { mcp }: ChatSettings,
  terminal: Terminal,
  questions: ReturnType<typeof serverQuestions>,
  closers: Closers,
): Promise<
  { readonly tools: McpServers['tools']; readonly summary: readonly string[] } | undefined
> {
  if (mcp.length === 0) return undefined;
  const servers = new McpServers(mcp, questions);
  closers.add(() => servers.close());
  terminal.progress(`connecting to ${mcp.join(', ')}`);
  const summary = await servers.connect(terminal.signal);
  terminal.clearProgress();
  return { tools: servers.tools, summary };
}

async function openHistory(
  { memory }: ChatSettings,
  terminal: Terminal,
  conversation: string,
  closers: Closers,
): Promise<ChatHistory> {
  const history = await ChatHistory.open(memory, conversation, terminal);
  closers.add(() => history.close());
  return history;
}

/** The client with a model of the command line, or with its own. */
async function namedClient(
  name: string | undefined,
  parts: Omit<ClientParts, 'model'>,
  terminal: Terminal,
): Promise<NamedClient> {
  if (name === undefined && parts.client)
    return { client: toClient(parts), name: 'the model of the module' };
  const chosen = await chooseModel(name, terminal);
  return { client: toClient({ ...parts, model: chosen.model }), name: chosen.name };
}

async function describe(
  history: ChatHistory | undefined,
  { memory }: ChatSettings,
): Promise<readonly string[]> {
  if (!history || memory === undefined) return [];
  const count = await history.length();
  const length = count === 0 ? 'new' : `${count} messages`;
  return [`conversation ${history.conversationId} in ${memory} (${length})`];
}
