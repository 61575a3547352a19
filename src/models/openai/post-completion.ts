import { APIConnectionError, APIError, type OpenAI } from 'openai';
import type { Prompt } from '../../chat/prompt.js';
import { readErrorBody } from './error-bodies.js';
import { writeBody } from './request-body.js';
import type { Wire } from './wire-json.js';
import { toWireRequest, type StreamSettings } from './wire.js';

const PATH = '/chat/completions';
const JSON_BODY = { 'content-type': 'application/json' };

/** What is to be sent. */
export interface CompletionBody {
  readonly prompt: Prompt;
  readonly options: Wire;
  readonly stream: StreamSettings;
}

/** Sends a body, once, and gives the response as it comes; its body is not read. */
export type PostCompletion = (body: CompletionBody, signal: AbortSignal, timeout: number) => Promise<Response>;

/**
 * Through a client of the application, with all that it brings along: its `fetch`, its ways to authenticate, its hooks. It is given an
 * object, since clients of a kind of their own (Azure) look into it for the model.
 */
export function postThrough(client: OpenAI): PostCompletion {
  return ({ prompt, options, stream }, signal, timeout) => {
    const body = toWireRequest(prompt.messages, options, stream);
    return client.post(PATH, { body, signal, timeout, maxRetries: 0 }).asResponse();
  };
}

/**
 * By a client that nobody else has: it makes the address and the headers, and its errors are thrown. What else it would do for a
 * request (timers, retries, a log) is done by the caller or wanted by nobody, and is a tenth of the cost of a call.
 *
 * Redirects are followed. If they were refused, Node would not copy the stream of the body for them, which is another tenth; but
 * Node 20 then loses the signal when it collects garbage, and an answer that has begun can no longer be cancelled.
 */
export function postDirectly(client: OpenAI): PostCompletion {
  return async ({ prompt, options, stream }, signal) => {
    const body = writeBody(prompt, options, stream);
    const { req, url } = await client.buildRequest({ method: 'post', path: PATH, body, headers: JSON_BODY });
    try {
      const response = await fetch(url, { ...req, signal } as RequestInit);
      return response.ok ? response : await refuse(response);
    } catch (error) {
      if (signal.aborted || !(error instanceof Error) || error instanceof APIError) throw error;
      throw new APIConnectionError({ message: error.message, cause: error });
    }
  };
}

async function refuse(response: Response): Promise<never> {
  throw APIError.generate(response.status, await readErrorBody(response), undefined, response.headers);
}
