// Cohere by its own API: documents, the answer and what of it comes from which. With COHERE_API_KEY it asks Cohere, without one the answer below.
import { ChatClient } from '../src/index.js';
import { CohereChatModel } from '../src/models/cohere/index.js';

const { COHERE_API_KEY: apiKey, COHERE_MODEL: name = 'command-a-03-2025' } = process.env;

interface Citation {
  readonly text: string;
  readonly sources: readonly { readonly id: string }[];
}

const documents = [
  { id: 'opening', data: 'The museum opens at 10, except on Mondays.' },
  { id: 'prices', data: 'A ticket is 12 euros.' },
];

const text = 'The museum opens at 10 and a ticket is 12 euros.';
const cited = ['opens at 10', '12 euros'].map((part, at) => {
  const start = text.indexOf(part);
  const sources = [{ type: 'document', id: documents[at]?.id }];
  return { start, end: start + part.length, text: part, sources };
});

/** Answers as the API does. */
const offline: typeof fetch = async (_address, request) => {
  const body = JSON.parse(request?.body as string) as { documents: readonly object[] };
  console.log(`server:  ${body.documents.length} documents`);
  return Response.json({
    id: 'answer-1',
    message: { role: 'assistant', content: [{ type: 'text', text }], citations: cited },
    finish_reason: 'COMPLETE',
    usage: { tokens: { input_tokens: 60, output_tokens: 14 } },
  });
};

const model = new CohereChatModel({
  model: name,
  apiKey: apiKey ?? 'none',
  fetch: apiKey ? undefined : offline,
  extraBody: {
    documents: documents.map(({ id, data }) => ({ id, data: { snippet: data } })),
  },
});

const response = await ChatClient.create(model)
  .prompt('When does the museum open, and what is a ticket?')
  .call()
  .chatResponse();
console.log(`answer:  ${response.text}`);
const { citations = [] } = (response.message.metadata?.['cohere'] ?? {}) as {
  citations?: Citation[];
};
for (const citation of citations)
  console.log(`"${citation.text}" from ${citation.sources.map(({ id }) => id).join(', ')}`);
