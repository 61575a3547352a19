// The keyword index of the packed library for a runner that measures retrieval; `npm run build` comes first.
import { KeywordIndex } from 'advisor-chain/knowledge';

export async function index(documents) {
  const keywords = new KeywordIndex();
  await keywords.upsert(
    'set',
    documents.map(({ id, title, text }) => ({ id: String(id), text, metadata: { title } })),
  );
  return {
    async search(question, k) {
      const found = await keywords.search('set', { text: question, topK: k });
      return found.map(({ id }) => id);
    },
  };
}
