import { readFileSync } from 'node:fs';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect } from 'chai';
import { ChatClient, ObservabilityAdvisor } from '../../../src/index.js';
import { providerAt } from '../../../src/models/http/provider-names.js';
import { Attribute, EventName, Metric, Operation } from '../../../src/core/observation/names.js';
import { SCOPE } from '../../../src/core/internal/package.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { recordMetrics } from '../../support/recorded-telemetry.js';
import { recordSpans } from '../../support/recorded-spans.js';

const OWN = 'advisor_chain.';

/** Names of the conventions whose constants begin with one of these. */
function known(...beginnings: readonly string[]): ReadonlySet<unknown> {
  const named = Object.entries(conventions).filter(([constant]) =>
    beginnings.some((beginning) => constant.startsWith(beginning)),
  );
  return new Set(named.map(([, value]) => value));
}

/** Names that are neither in the conventions nor begin with the prefix of this library. */
function foreign(
  names: Readonly<Record<string, string>>,
  among: ReadonlySet<unknown>,
): readonly string[] {
  return Object.values(names).filter((name) => !among.has(name) && !name.startsWith(OWN));
}

/** The addresses that the table of providers knows. */
function hosts(): readonly string[] {
  const source = readFileSync(
    new URL('../../../src/models/http/provider-names.ts', import.meta.url),
    'utf8',
  );
  return [...source.matchAll(/\['([a-z.0-9]+)', '[a-z._]+'\]/g)].map(([, host]) => host as string);
}

describe('recorded names', () => {
  it('come from the conventions, or begin with advisor_chain', () => {
    expect(foreign(Attribute, known('ATTR_'))).to.deep.equal([]);
    expect(foreign(Metric, known('METRIC_'))).to.deep.equal([]);
    expect(foreign(EventName, known('EVENT_'))).to.deep.equal([]);
    expect(foreign(Operation, known('GEN_AI_OPERATION_NAME_VALUE_'))).to.deep.equal([]);
  });

  it('are distinguished from names that the conventions do not have', () => {
    expect(
      foreign({ A: 'gen_ai.request.modell', B: 'advisor_chain.a' }, known('ATTR_')),
    ).to.deep.equal(['gen_ai.request.modell']);
  });

  it('are unique', () => {
    for (const names of [Attribute, Metric, EventName, Operation])
      expect(Object.values(names)).to.have.length(new Set(Object.values(names)).size);
  });

  it('belong to a scope with the version of the package', () => {
    const { name, version } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as Record<string, string>;

    expect(SCOPE).to.deep.equal({ name, version });
  });

  it('include the provider names of the conventions', () => {
    const found = hosts();

    expect(found).to.have.length.above(10);
    for (const host of found)
      expect(known('GEN_AI_PROVIDER_NAME_VALUE_'), host).to.include(
        providerAt(`https://${host}/v1`, 'openai').name,
      );
    expect(known('GEN_AI_PROVIDER_NAME_VALUE_')).to.include(
      providerAt('http://127.0.0.1:11434/v1', 'openai').name,
    );
  });

  it('include every attribute of a turn, with the token and output types of the conventions', async () => {
    const recording = recordSpans();
    const { meter, collect } = recordMetrics();
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const client = ChatClient.builder(
      new ScriptedChatModel([
        { text: 'a', usage },
        { text: '{}', usage },
      ]),
    )
      .defaultAdvisors(
        new ObservabilityAdvisor({ tracer: recording.tracer, meter, captureContent: true }),
      )
      .build();
    for (const responseFormat of ['text', 'json'] as const)
      await client.prompt('Hi.').options({ responseFormat }).call().content();
    const points = (await collect()).flatMap(({ dataPoints }) =>
      dataPoints.map(({ attributes }) => attributes),
    );
    const all = [...recording.spans.map(({ attributes }) => attributes), ...points];
    const valuesOf = (name: string): readonly unknown[] =>
      all.flatMap((attributes) => attributes[name] ?? []);

    expect([...new Set(Object.values(Attribute))]).to.include.members(
      all.flatMap((attributes) => Object.keys(attributes)),
    );
    expect([...known('GEN_AI_TOKEN_TYPE_VALUE_')]).to.include.members([
      ...valuesOf(Attribute.TOKEN_TYPE),
    ]);
    expect([...known('GEN_AI_OUTPUT_TYPE_VALUE_')]).to.include.members([
      ...valuesOf(Attribute.OUTPUT_TYPE),
    ]);
    expect([...known('GEN_AI_OPERATION_NAME_VALUE_')]).to.include.members([
      ...valuesOf(Attribute.OPERATION_NAME),
    ]);
    expect(new Set(valuesOf(Attribute.TOKEN_TYPE))).to.have.length(2);
    expect(new Set(valuesOf(Attribute.OUTPUT_TYPE))).to.have.length(2);
  });
});
