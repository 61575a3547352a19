import { HttpAgent, type BaseEvent, type Message, type RunAgentInput } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { agUI, fromRunInput } from '../../src/bridges/ag-ui/index.js';
import { errorResponse, toHttpError, toResponse } from '../../src/bridges/http/index.js';
import type { EventSource } from '../../src/bridges/http/index.js';
import type { AgUIOptions, RunInput } from '../../src/bridges/ag-ui/index.js';

/** The client of AG-UI, with its own checks, on a handler in this process. */
export class Reader {
  readonly events: BaseEvent[] = [];
  readonly agent: HttpAgent;
  /** Requests of the client, as it has sent them. */
  readonly bodies: RunAgentInput[] = [];

  constructor(answer: (input: RunInput) => EventSource, options: Partial<AgUIOptions> = {}) {
    this.agent = new HttpAgent({
      url: 'http://localhost/agent',
      threadId: 't1',
      fetch: async (_url, { body, signal }) => {
        try {
          const parsed = JSON.parse(body as string) as RunAgentInput;
          this.bodies.push(parsed);
          const input = fromRunInput(parsed, { by: 'anna' });
          const { threadId, runId } = input;
          const format = agUI({ threadId, runId, body: parsed, ...options });
          return await toResponse(answer(input), { format, signal: signal ?? undefined });
        } catch (error) {
          return errorResponse(toHttpError(error));
        }
      },
    });
  }

  /** Runs a turn. */
  async run(parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<readonly Message[]> {
    await this.agent.runAgent(parameters, {
      onEvent: ({ event }) => {
        EventSchemas.parse(event);
        this.events.push(event);
      },
    });
    return this.agent.messages;
  }

  ask(content: string): Promise<readonly Message[]> {
    this.agent.addMessage({ id: `u${this.agent.messages.length}`, role: 'user', content });
    return this.run();
  }

  types(): readonly string[] {
    return this.events.map(({ type }) => type as string);
  }

  last(): BaseEvent {
    return this.events.at(-1) as BaseEvent;
  }
}

/** Messages without ids, as text and calls. */
export function shape(messages: readonly Message[]): readonly unknown[] {
  return messages
    .map((message) => {
      const { role, content = '' } = message as { role: string; content?: unknown };
      const calls = message.role === 'assistant' ? message.toolCalls : undefined;
      return calls ? [role, content, ...calls.map((call) => call.function)] : [role, content];
    })
    .filter(([, content, ...calls]) => content !== '' || calls.length > 0);
}
