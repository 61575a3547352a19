import { randomUUID } from 'node:crypto';
import type { McpServerSettings } from '../../bridges/mcp/index.js';
import { invisibleIn } from '../../core/tool/hidden-text.js';
import type { JsonSchema } from '../../core/chat/tool-definition.js';
import type { TerminalDecisions } from './terminal-decisions.js';

type OnElicitation = Extract<McpServerSettings['onElicitation'], (...args: never[]) => unknown>;

/** Schema of a question that is answered by yes or no. */
const YES_OR_NO: JsonSchema = { type: 'boolean' };

/**
 * Brings questions of MCP servers to the person at the terminal. They are declined while no turn runs, since the
 * terminal reads a question of the person then.
 */
export function serverQuestions(
  decisions: TerminalDecisions,
  isTurnRunning: () => boolean,
): OnElicitation {
  return async (request, { server, signal }) => {
    if (!isTurnRunning()) return { action: 'decline' };
    const isForm = 'requestedSchema' in request;
    const asked = isForm ? request.message : `${request.message}\n  ${request.url}\nDone?`;
    const toolName = `the MCP server ${server}`;
    const id = randomUUID();
    const prompt = `The MCP server ${server} asks: ${asked}`;
    const hiddenText = invisibleIn(prompt);
    const schema = isForm ? (request.requestedSchema as unknown as JsonSchema) : YES_OR_NO;
    const decision = await decisions.decide(
      { type: 'question', id, toolName, callId: id, prompt, schema, hiddenText },
      signal,
    );
    if (decision.type !== 'answer') return { action: 'cancel' };
    if (!isForm) return { action: decision.value === true ? 'accept' : 'decline' };
    type Content = Awaited<ReturnType<OnElicitation>>['content'];
    return { action: 'accept', content: decision.value as NonNullable<Content> };
  };
}
