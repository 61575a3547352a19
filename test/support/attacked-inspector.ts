import { connect } from 'node:net';
import { Inspector } from '../../src/bridges/inspector/index.js';
import { startInspector, type StartInspectorOptions } from '../../src/cli/start-inspector.js';
import { ApprovalAdvisor, ChatClient, defineTool, InMemoryKeyValueStore } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { textOf } from '../../src/core/chat/message.js';
import { SECRET } from './paused-turns.js';

/** In everything of the server that no page may see. */
export const CANARY = 'canary-4711';

/** The answer to a request that was sent as bytes. */
export interface RawAnswer {
  /** 0 for a connection that was closed without an answer. */
  readonly status: number;
  readonly text: string;
}

/** An inspector with a client that pays if it is asked to, behind a server. */
export async function startAttackedInspector(options: StartInspectorOptions = {}) {
  const paid: unknown[] = [];
  const model: ScriptedChatModel = new ScriptedChatModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return 'Done.';
    const asksToPay = last && textOf(last) === 'Pay';
    return asksToPay ? { toolCalls: [{ name: 'pay', arguments: {} }] } : 'An answer.';
  });
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: () => {
      paid.push('paid');
      return 'paid';
    },
  });
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  const client = ChatClient.builder(model)
    .defaultTools(pay)
    .defaultToolContext({ key: CANARY })
    .defaultAdvisors(new ApprovalAdvisor({ pause }))
    .build();
  const { inspector = new Inspector() } = options;
  const started = await startInspector(client, { ...options, inspector });
  const { origin, port, searchParams } = new URL(started.url);
  const token = searchParams.get('token') ?? '';
  return {
    ...started,
    inspector,
    model,
    client,
    paid,
    token,
    origin,
    port: Number(port),
    raw: (request: string, isComplete = true) => rawRequest(Number(port), request, isComplete),
  };
}

/** Milliseconds for which a request that is no complete one waits for an answer. */
const WAIT = 50;

/**
 * Writes bytes to a server, and reads its answer until the connection ends.
 * @param isComplete false for a request to which there may be no answer
 */
function rawRequest(port: number, request: string, isComplete: boolean): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }),
    );
    socket.write(request, 'latin1');
    // a server that gets the end first does not answer
    if (!isComplete) setTimeout(() => socket.end(), WAIT);
  });
}
