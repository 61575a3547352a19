import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  KeywordToolIndex,
  textOf,
  ToolSearchAdvisor,
  VectorToolIndex,
  type Advisor,
  type ChatClientResponse,
  type ChatOptions,
  type EmbeddingModel,
  type Message,
  type Prompt,
  type Tool,
  type ToolIndex,
  type ToolSearchAdvisorOptions,
} from '../../src/index.js';
import type { ToolIndexRequest, ToolSearchRequest } from '../../advisors/tool-search/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import type { Mode } from './modes.js';

/** Tools that are found by their last word. */
export const TOOLS: readonly Tool[] = [
  'weather',
  'forecast',
  'calendar',
  'invoice',
  'translation',
  'playlist',
].map((thing) => tool(`get_${thing}`));

export function tool(name: string, options: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({
    name,
    description: `Gives the ${name.split('_').at(-1)}.`,
    execute: () => `result of ${name}`,
    ...options,
  });
}

/** Options of a turn with a tool search. */
export interface SearchTurnOptions {
  readonly tools?: readonly Tool[];
  readonly search?: Partial<ToolSearchAdvisorOptions>;
  readonly advisor?: ToolSearchAdvisor;
  readonly advisors?: readonly Advisor[];
  readonly conversation?: string | undefined;
  readonly messages?: readonly Message[];
  readonly user?: string;
  readonly system?: string;
  readonly options?: ChatOptions;
}

/** The prompts of the model and the response of the caller. */
export interface SearchTurn {
  readonly model: ScriptedChatModel;
  readonly response: ChatClientResponse;
  /** Names of the tools that each request offered. */
  readonly offered: readonly (readonly string[])[];
}

/** Runs a turn behind a tool search. */
export async function runSearch(
  mode: Mode,
  script: Script,
  options: SearchTurnOptions = {},
): Promise<SearchTurn> {
  const {
    tools = TOOLS,
    advisors = [],
    conversation,
    messages = [],
    user = 'Go.',
    system,
  } = options;
  const model = new ScriptedChatModel(script);
  const advisor =
    options.advisor ??
    new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), ...options.search });
  let spec = ChatClient.create(model)
    .prompt()
    .messages(...messages)
    .user(user)
    .tools(...tools)
    .options(options.options ?? {})
    .advisors(advisor, ...advisors);
  if (system !== undefined) spec = spec.system(system);
  if (conversation !== undefined)
    spec = spec.advisors((a) => a.param(CONVERSATION_ID, conversation));
  const response =
    mode === 'call'
      ? await spec.call().chatClientResponse()
      : await lastValueFrom(spec.stream().chatClientResponse());
  return { model, response, offered: model.prompts.map(namesOf) };
}

export function namesOf({ options }: Prompt): readonly string[] {
  return (options.tools ?? []).map(({ definition }) => definition.name);
}

/** A scripted answer with searches. */
export function searches(...queries: readonly (string | Readonly<Record<string, unknown>>)[]): {
  toolCalls: { name: string; arguments: Readonly<Record<string, unknown>> }[];
} {
  return {
    toolCalls: queries.map((query) => ({
      name: 'toolSearchTool',
      arguments: typeof query === 'string' ? { query } : query,
    })),
  };
}

export function calls(...names: readonly string[]): { toolCalls: { name: string }[] } {
  return { toolCalls: names.map((name) => ({ name })) };
}

/** The results of tools that a prompt has, in order. */
export function resultsIn({ messages }: Prompt): readonly string[] {
  return messages.flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : []));
}

/** An index that records its calls. */
export class RecordingIndex implements ToolIndex {
  readonly log: string[] = [];
  readonly indexed: ToolIndexRequest[] = [];
  readonly searched: ToolSearchRequest[] = [];

  constructor(private readonly inner: ToolIndex = new KeywordToolIndex()) {}

  index(request: ToolIndexRequest): void | Promise<void> {
    this.log.push(
      `index ${request.session}: ${request.references.map(({ name }) => name).join(' ')}`,
    );
    this.indexed.push(request);
    return this.inner.index(request);
  }

  search(request: ToolSearchRequest): ReturnType<ToolIndex['search']> {
    this.log.push(`search ${request.session}: ${request.query}`);
    this.searched.push(request);
    return this.inner.search(request);
  }

  clear(session: string): void | Promise<void> {
    this.log.push(`clear ${session}`);
    return this.inner.clear(session);
  }
}

/** Runs turns of many sessions with the same tools; returns the number of texts that were embedded. */
export async function embeddedTexts(mode: Mode, turns: number): Promise<number> {
  let count = 0;
  const embeddingModel: EmbeddingModel = {
    embed: (texts) => {
      count += texts.length;
      const vectors = texts.map(() => Float32Array.of(1));
      return Promise.resolve({ vectors, usage: undefined, model: undefined });
    },
  };
  const toolIndex = new VectorToolIndex({ embeddingModel, maxCachedVectors: 0 });
  const advisor = new ToolSearchAdvisor({ toolIndex });
  for (let at = 0; at < turns; at++)
    await runSearch(mode, ['Hi.'], { advisor, conversation: at % 10 === 9 ? undefined : `c${at}` });
  return count;
}
