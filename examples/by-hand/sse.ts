// A turn as server-sent events, written by hand: what `toResponse` of advisor-chain/http takes the place of.
// It has one status for all errors, and no event ids.
import type { ChatClient, ChatEvent } from '../../src/index.js';

export async function answer(client: ChatClient, request: Request): Promise<Response> {
  const left = new AbortController();
  request.signal.addEventListener('abort', () => left.abort(), { once: true });
  const spec = client.prompt(await request.text()).signal(left.signal);
  const events = spec.stream().events()[Symbol.asyncIterator]();
  let next: IteratorResult<ChatEvent> | undefined;
  try {
    next = await events.next();
  } catch (error) {
    console.error(error);
    return Response.json({ error: 'The request could not be answered.' }, { status: 502 });
  }
  const encoder = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => controller.enqueue(encoder.encode(':\n\n')), 15_000);
      },
      async pull(controller) {
        const send = (data: object): void =>
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(data)}\n\n`));
        try {
          const { value, done } = next ?? (await events.next());
          next = undefined;
          if (!done) return send(shown(value as ChatEvent));
        } catch (error) {
          console.error(error);
          send({ type: 'error', error: 'The request could not be answered.' });
        }
        clearInterval(heartbeat);
        controller.close();
      },
      cancel() {
        clearInterval(heartbeat);
        left.abort();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  return new Response(body, { headers });
}

/** The part of an event that a browser may see: no context, report, metadata of the provider and value of a tool. */
function shown(event: ChatEvent): object {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      return event;
    case 'tool-call':
      return { type: event.type, call: event.call };
    case 'tool-result':
      return { type: event.type, call: event.call, content: event.result.content };
    case 'response':
      return { type: event.type, text: event.response.text, usage: event.response.usage };
    default:
      return { type: event.type };
  }
}
