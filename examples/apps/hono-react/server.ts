// A chat with a React page: `npm run app:hono`, then http://127.0.0.1:3000
import { serve } from '@hono/node-server';
import { errorResponse, invalidInput, readJsonInput, toHttpError } from 'advisor-chain/http';
import { InMemoryTurnLog, TurnStreams } from 'advisor-chain/turn-log';
import { fromUIMessages, toUIMessageStreamResponse } from 'advisor-chain/ui';
import { buildSync } from 'esbuild';
import { Hono, type Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { client } from './chat.js';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const page = buildSync({
  entryPoints: [here('page.tsx'), here('page.css')],
  outdir: 'bundled',
  bundle: true,
  minify: true,
  write: false,
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
});
const bundled = (ending: string): string =>
  page.outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';

const streams = new TurnStreams({ log: new InMemoryTurnLog() }); // a database, for several processes

/** The conversation belongs to the cookie of the browser; a session of your application takes its place. */
function conversationOf(c: Context): string {
  const conversation = getCookie(c, 'conversation');
  if (!conversation) throw invalidInput('There is no conversation: open the page first.');
  return conversation;
}

const app = new Hono();
app.get('/', (c) => {
  if (!getCookie(c, 'conversation'))
    setCookie(c, 'conversation', crypto.randomUUID(), { httpOnly: true, sameSite: 'Strict' });
  return c.html(readFileSync(here('page.html'), 'utf8'));
});
app.get('/page.js', (c) => c.body(bundled('.js'), 200, { 'content-type': 'text/javascript' }));
app.get('/page.css', (c) => c.body(bundled('.css'), 200, { 'content-type': 'text/css' }));

/** A message, or answers to what a turn waits for. */
app.post('/api/chat', async (c) => {
  const conversation = conversationOf(c);
  const { message, decisions } = fromUIMessages(await readJsonInput(c.req.raw), { by: 'you' });
  const run = message
    ? client.prompt().messages(message)
    : client.resume(await waitingTurn(conversation), decisions);
  // the run goes to its end, also if the page is closed
  const events = await streams.start(conversation, run.conversation(conversation).stream());
  return toUIMessageStreamResponse(events, { isContinuation: !message });
});

async function waitingTurn(conversation: string): Promise<string> {
  const [turn] = await client.pending(conversation);
  if (!turn) throw invalidInput('No turn waits for an answer.');
  return turn.id;
}

/** The answer that is being written, from its beginning, for a page that was loaded again. */
app.get('/api/chat/:id/stream', async (c) => {
  const events = await streams.resume(conversationOf(c));
  return events ? toUIMessageStreamResponse(events) : c.body(null, 204);
});

app.post('/api/stop', async (c) => {
  await streams.stop(conversationOf(c));
  return c.body(null, 204);
});

app.onError((error) => errorResponse(toHttpError(error)));

serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) },
  (at) => console.log(`http://127.0.0.1:${at.port}`),
);
