import type { ToolInput } from '../../core/client/request-settings.js';
import { hasMethods } from '../../core/internal/options.js';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  type Advisor,
  type ChatModel,
} from '../../index.js';
import type { Exports } from '../load-module.js';

/** The parts of the client of a chat. */
export interface ClientParts {
  /** Client of a module, which has its own model. */
  readonly client?: ChatClient | undefined;
  /** Required without a client; with one, it answers in place of its own. */
  readonly model?: ChatModel | undefined;
  readonly system?: string | undefined;
  readonly tools: readonly ToolInput[];
  readonly advisors: readonly Advisor[];
}

/** Builds the client of a chat. */
export function toClient({ client, model, system, tools, advisors }: ClientParts): ChatClient {
  const builder = client
    ? client.mutate().defaultAdvisors(...(model ? [modelAdvisor(model)] : []))
    : ChatClient.builder(model as ChatModel);
  builder.defaultAdvisors(...advisors);
  if (system !== undefined) builder.defaultSystem(system);
  const withTools = tools.length > 0 ? builder.defaultTools(...(tools as never[])) : builder;
  // warnings are read by /explain, and printed once at the start
  return withTools.warnings(false).build() as ChatClient;
}

function modelAdvisor(model: ChatModel): Advisor {
  return defineAdvisor({
    name: 'chat-model',
    order: AdvisorOrder.OBSERVABILITY - 10,
    around: (request, next) => next(request.withModel(model)),
  });
}

/** The advisors of a client that does what a chat would add; by their parts, since copies of a class differ. */
export function rolesOf(client: ChatClient | undefined): {
  readonly hasMemory: boolean;
  readonly hasApproval: boolean;
} {
  const advisors = client?.prompt().settings.advisors ?? [];
  return {
    hasMemory: advisors.some(({ role }) => role === 'chat-memory'),
    hasApproval: advisors.some((advisor) => hasMethods(advisor, ['remembered', 'revoke'])),
  };
}

/** The tools and providers of tools among exports, also in arrays. */
export function toolsIn(exports: Exports): readonly ToolInput[] {
  const values = Object.values(exports).flat(2) as readonly unknown[];
  // what else a module exports may have getters that throw
  const has = (value: unknown, field: string): boolean =>
    typeof value === 'object' && value !== null && field in value;
  const isTool = (value: unknown): boolean =>
    has(value, 'definition') && hasMethods(value, ['call']);
  const isProvider = (value: unknown): boolean =>
    has(value, 'tools') && has(value, 'name') && hasMethods(value, ['tools']);
  return [...new Set(values)].filter((value) => isTool(value) || isProvider(value)) as ToolInput[];
}
