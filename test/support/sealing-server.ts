import { z } from 'zod';
import { errorResponse, toHttpError } from '../../src/bridges/http/index.js';
import {
  SealedHistory,
  toUIMessageStreamResponse,
  type SealedHistoryInputOptions,
} from '../../src/bridges/ui/index.js';
import { ChatClient, defineTool, type Advisor } from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { SECRET } from './paused-turns.js';
import { UIPage, type PageBody } from './ui-page.js';

const find = defineTool({
  name: 'find',
  effect: 'read',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 20 }),
});
const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });

/** A client with the tools `find` and `pay`. */
export function toolClient(script: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]) {
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultSystem('You help.')
    .defaultTools(find, pay)
    .defaultAdvisors(...advisors)
    .build();
  return { model, client };
}

export const ANNA: SealedHistoryInputOptions = {
  conversation: 'anna-7',
  owner: 'anna',
  by: 'anna',
};

/** A server without a chat memory, and a page that keeps the history. */
export function sealingServer(script: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]) {
  const { model, client } = toolClient(script, ...advisors);
  const histories = new SealedHistory({ secrets: SECRET });
  const answer = async (body: PageBody, signal?: AbortSignal): Promise<Response> => {
    try {
      const input = await histories.fromUIMessages(body, ANNA);
      const { message, history, decisions, sealed } = input;
      const { pausedTurn } = (body.messages.at(-1)?.metadata ?? {}) as { pausedTurn?: string };
      const stream = message
        ? client.prompt().messages(...history, message).stream() // prettier-ignore
        : client.resume(pausedTurn ?? '', decisions).stream();
      return await toUIMessageStreamResponse(sealed(stream), { isContinuation: !message, signal });
    } catch (error) {
      return errorResponse(toHttpError(error));
    }
  };
  return { model, answer, page: new UIPage(answer) };
}
