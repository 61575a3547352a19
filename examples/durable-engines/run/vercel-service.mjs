// The process of the recipe: the bundles of workflow and steps behind the queue of the local world, and the calls of an application.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { json } from 'node:stream/consumers';
import { getRun, resumeHook, start } from 'workflow/api';
import { getWorld } from 'workflow/runtime';

const { PORT, FOLDER } = process.env;
const load = (name) => import(pathToFileURL(`${FOLDER}/${name}.cjs`).href);
const flow = await load('flow');
const step = await load('steps');
const handlers = { flow: flow.POST, step: step.POST };

const application = {
  async begin({ id, question }) {
    const { runId } = await start({ workflowId: process.env.WORKFLOW }, [id, question]);
    return { runId };
  },
  decide: async ({ id, ...sent }) => ({ sent: Boolean(await resumeHook(id, sent)) }),
  result: async ({ runId }) => ({ value: await getRun(runId).returnValue }),
};

async function reply(request, response) {
  const name = request.url.split('/').at(-1);
  const handle = handlers[name];
  if (!handle) return response.end(JSON.stringify(await application[name](await json(request))));
  const url = `http://localhost:${PORT}${request.url}`;
  const init = { method: 'POST', headers: request.headers, body: request, duplex: 'half' };
  const answer = await handle(new Request(url, init));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}

createServer((request, response) => {
  reply(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500).end(String(error));
  });
}).listen(Number(PORT), '127.0.0.1', () => void getWorld().start?.());
