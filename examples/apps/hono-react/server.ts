// A chat with a React page: `npm run app:hono`, then http://127.0.0.1:3000
import { serve } from '@hono/node-server';
import { errorResponse, invalidInput, readInput, toHttpError } from 'advisor-chain/http';
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

/** The conversation belongs to the cookie of the browser; a session of your application takes its place. */
const conversationOf = (c: Context): string => getCookie(c, 'conversation') ?? '';

const app = new Hono();
app.get('/', (c) => {
  if (conversationOf(c) === '')
    setCookie(c, 'conversation', crypto.randomUUID(), { httpOnly: true, sameSite: 'Strict' });
  return c.html(readFileSync(here('page.html'), 'utf8'));
});
app.get('/page.js', (c) => c.body(bundled('.js'), 200, { 'content-type': 'text/javascript' }));
app.get('/page.css', (c) => c.body(bundled('.css'), 200, { 'content-type': 'text/css' }));

app.post('/api/chat', async (c) => {
  const conversation = conversationOf(c);
  const { message, decisions } = fromUIMessages(await readInput(() => c.req.json()), {
    by: 'you',
  });
  const { signal } = c.req.raw;
  if (message) {
    const stream = client.prompt().messages(message).conversation(conversation).stream();
    return toUIMessageStreamResponse(stream, { signal });
  }
  const [turn] = await client.pending(conversation);
  if (!turn) throw invalidInput('No turn waits for a decision.');
  const resumed = client.resume(turn.id, decisions).conversation(conversation).stream();
  return toUIMessageStreamResponse(resumed, { signal, isContinuation: true });
});
app.onError((error) => errorResponse(toHttpError(error)));

serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) },
  (at) => console.log(`http://127.0.0.1:${at.port}`),
);
