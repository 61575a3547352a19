// The application of the recipes: a client with two tools that read and one that writes, whose calls a person decides.
import { ApprovalAdvisor, ChatClient, defineTool, type WaitOptions } from 'advisor-chain';
import { AnthropicChatModel } from 'advisor-chain/anthropic';

/** A client of the model and the tools of a server. */
export function supportClient(server: string): ChatClient {
  const ask = async (path: string, method = 'GET'): Promise<string> =>
    (await fetch(`${server}/${path}`, { method })).text();
  const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;
  return ChatClient.builder(new AnthropicChatModel({ model: 'm', apiKey: 'key', baseURL: server }))
    .defaultTools(
      defineTool({
        name: 'find_order',
        description: 'An order by its id.',
        effect: 'read',
        input: id,
        execute: ({ id }) => ask(`orders/${String(id)}`),
      }),
      defineTool({
        name: 'find_customer',
        description: 'A customer by the id of an order.',
        effect: 'read',
        input: id,
        execute: ({ id }) => ask(`customers/${String(id)}`),
      }),
      defineTool({
        name: 'refund',
        description: 'Refunds an order.',
        effect: 'write',
        input: id,
        execute: ({ id }) => ask(`refunds/${String(id)}`, 'POST'),
      }),
    )
    .defaultAdvisors(new ApprovalAdvisor({ decide: 'elsewhere' }))
    .build();
}

/** Shows a person what is to be decided; the decision is sent to the turn under the id of the request. */
export async function showRequest(server: string, request: WaitOptions['request']): Promise<null> {
  await fetch(`${server}/requests`, { method: 'POST', body: JSON.stringify(request) });
  return null;
}
