import { expect } from 'chai';
import {
  ChatClient,
  ContextKey,
  RETRIEVAL_FILTER,
  RetrievalAdvisor,
  type Document,
  type Filter,
} from '../../../src/index.js';
import { KeywordIndex, KeywordRetriever } from '../../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { Random } from '../../support/random.js';

const TENANT = new ContextKey<string | undefined>('tenant');
const TENANTS = Array.from({ length: 20 }, (_, at) => `tenant${at}`);
const documentsOf = (tenant: string): readonly Document[] =>
  Array.from({ length: 10 }, (_, at) => ({
    // all tenants have the same ids
    id: `report${at}`,
    text: `The report ${at} has the canary-${tenant}-end.`,
    metadata: { tenant, year: 2020 + at },
  }));

describe('RetrievalAdvisor, tenants', () => {
  for (const mode of MODES)
    it(`${mode}: 200 random turns find no document of another tenant, whatever their filters and parts want`, async () => {
      const random = new Random(7);
      const index = new KeywordIndex();
      for (const tenant of TENANTS) await index.upsert(tenant, documentsOf(tenant));
      const retriever = new KeywordRetriever({ index, topK: 10 });
      const any = (): string => random.pick(TENANTS);
      const filters: readonly (() => Filter)[] = [
        () => ({}),
        () => ({ tenant: any() }),
        () => ({ or: [{ tenant: any() }, { year: { gte: 0 } }] }),
        () => ({ not: { tenant: any() } }),
        () => ({ namespace: any() }),
      ];
      const model = new ScriptedChatModel(() => 'So.');
      const client = ChatClient.builder(model)
        .defaultAdvisors(
          new RetrievalAdvisor({
            retriever,
            scope: (context) => context.get(TENANT),
            transformers: [(query) => ({ ...query, namespace: any() })],
            expander: (query) => [query, { ...query, namespace: any(), filter: {} }],
          }),
        )
        .build();

      const turns = Array.from({ length: 200 }, () => ({
        tenant: any(),
        filter: random.pick(filters)(),
      }));
      const responses = await Promise.all(
        turns.map(({ tenant, filter }) =>
          runSpec(
            mode,
            client
              .prompt(`The report of canary-${any()}-end?`)
              .advisors((a) => a.param(TENANT, tenant).param(RETRIEVAL_FILTER, filter)),
          ),
        ),
      );

      const found = responses.map(
        ({ metadata }) => JSON.stringify(metadata?.['documents']).match(/canary-\w+-end/g) ?? [],
      );
      const foreign = found.flatMap((canaries, at) =>
        canaries.filter((canary) => canary !== `canary-${turns[at]?.tenant}-end`),
      );
      expect(foreign).to.deep.equal([]);
      expect(found.filter(({ length }) => length > 0).length).to.be.above(100);
    });
});
