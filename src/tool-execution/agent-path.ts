import { ContextKey } from '../chat/context.js';

/** The call of an agent that a turn runs in. */
export interface AgentCall {
  readonly toolName: string;
  /** Identifies the call within its turn; see `callKeyOf`. */
  readonly key: string;
}

/** The calls of agents around a turn, the outermost first. */
export const AGENT_PATH = new ContextKey<readonly AgentCall[]>('advisor-chain.agent-path', []);
