import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { hasCode } from '../errors/advisor-chain-error.js';
import { cancellationOf, untilCancelled } from '../internal/cancellation.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import type { ToolContext } from '../tool/tool.js';

type Ask = ToolContext['ask'];

/**
 * The tool calls of a session whose server may ask the user. The protocol does not name the call of a
 * question, and that of another call may be that of another user: one call runs at a time.
 */
export class AskingCalls {
  private last: Promise<unknown> = Promise.resolve();
  private ask: Ask | undefined;

  /** @param server its name, which the person sees */
  constructor(private readonly server: string) {}

  /** Runs a call when those before it have ended. */
  async run<T>(ask: Ask, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const before = this.last;
    let end = (): void => undefined;
    const own = new Promise<void>((resolve) => (end = resolve));
    this.last = before.then(() => own);
    try {
      await untilCancelled(before, cancellationOf(signal));
      this.ask = ask;
      return await send();
    } finally {
      if (this.ask === ask) this.ask = undefined;
      end();
    }
  }

  /** The answer to a form; other questions, and those outside of a call, are declined. */
  async elicit(params: ElicitRequestParams): Promise<ElicitResult> {
    const { ask } = this;
    if (!ask || !('requestedSchema' in params)) return { action: 'decline' };
    const schema = params.requestedSchema as unknown as JsonSchema;
    try {
      const content = await ask(schema, `The server "${this.server}" asks: ${params.message}`);
      return { action: 'accept', content: content as NonNullable<ElicitResult['content']> };
    } catch (error) {
      if (hasCode(error, 'tool')) return { action: 'decline' };
      throw error;
    }
  }
}
