import type { Attributes } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  AdvisorChainError,
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineTool,
  ModelCallError,
  ObservabilityAdvisor,
  type Advisor,
  type ChatModel,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { everythingIn, recordMetrics } from './recorded-telemetry.js';
import type { Mode } from './modes.js';

/** An error class created at run time, with its own code. */
class MadeUpError extends AdvisorChainError {
  constructor(readonly code: string) {
    super('no');
    this.name = `${code}_error`;
  }
}

/** The differing fields of many turns. */
interface DifferingTurns {
  /** @param name another one for each turn */
  readonly answer: (name: string, prompts: number) => ScriptedAnswer;
  readonly toolName?: (name: string) => string;
  readonly model?: (name: string) => string;
  readonly provider?: (name: string) => ChatModel['provider'];
}

/** Metrics of many turns with different users, models and so on. */
async function measureTurns(
  mode: Mode,
  count: number,
  { answer, toolName, model, provider }: DifferingTurns,
  observe?: () => Advisor,
): Promise<readonly MetricData[]> {
  const { meter, collect } = recordMetrics();
  const shared = new ObservabilityAdvisor({ meter });
  for (let turn = 0; turn < count; turn++) {
    const name = `name_${turn}`;
    const scripted = new ScriptedChatModel(
      (_prompt, index) => answer(name, index),
      model ? { model: model(name) } : {},
    );
    const spec = ChatClient.create(
      provider ? Object.assign(scripted, { provider: provider(name) }) : scripted,
    )
      .prompt('Hi.')
      .tools(defineTool({ name: toolName?.(name) ?? 'look', execute: () => 'found' }))
      .advisors((a) => a.param(CONVERSATION_ID, `conversation ${name}`))
      .advisors(observe?.() ?? shared);
    const done =
      mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
    await done.catch(() => undefined);
  }
  return collect();
}

function labelsOf(metrics: readonly MetricData[]): readonly Attributes[] {
  return metrics.flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes));
}

const LABELS: readonly string[] = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.token.type',
  'gen_ai.tool.name',
  'server.address',
  'server.port',
  'error.type',
  'advisor_chain.outcome',
  'advisor_chain.limit',
];

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const withModel = (model: string): ChatResponse =>
  new ChatResponse({
    id: `id of ${model}`,
    model,
    usage,
    generations: [
      { finishReason: `reason ${model}`, message: { role: 'assistant', content: 'a' } },
    ],
  });
const asks = (name: string, prompts: number, tool = 'look'): ScriptedAnswer =>
  prompts === 0 ? { toolCalls: [{ id: `call ${name}`, name: tool }] } : 'done';

/** Differing fields with the maximum number of series. */
export const SERIES: Readonly<
  Record<string, { readonly turns: DifferingTurns; readonly most: number }>
> = {
  'conversations, turns and calls': { turns: { answer: asks }, most: 20 },
  'requested models': {
    turns: { answer: () => 'a', model: (name) => `model ${name}` },
    most: 1_000,
  },
  'models in responses': { turns: { answer: withModel }, most: 1_000 },
  'unknown tools': {
    turns: { answer: (name, prompts) => asks(name, prompts, name) },
    most: 20,
  },
  tools: {
    turns: { answer: (name, prompts) => asks(name, prompts, name), toolName: (name) => name },
    most: 2_000,
  },
  'providers and servers': {
    turns: {
      answer: () => 'a',
      provider: (name) => ({ name: `provider ${name}`, address: `${name}.example.org`, port: 1 }),
    },
    most: 1_000,
  },
  'classes of errors': {
    turns: { answer: (name) => Object.assign(new Error(name), { name }) },
    most: 20,
  },
  'codes of errors': { turns: { answer: (name) => new MadeUpError(name) }, most: 1_000 },
  'statuses of errors': {
    turns: { answer: (name) => new ModelCallError(name, { status: Number(name.slice(5)) }) },
    most: 1_000,
  },
};

/** Expects a limited number of series after many turns, and that no measurement is lost. */
export async function expectLimitedSeries(
  count: number,
  { turns, most }: { readonly turns: DifferingTurns; readonly most: number },
): Promise<void> {
  const metrics = await measureTurns('call', count, turns);
  const counts = metrics.flatMap(({ dataPoints }) =>
    dataPoints.map(({ value }) => (typeof value === 'number' ? value : value.count)),
  );

  expect(labelsOf(metrics).length, 'series').to.be.within(3, most);
  expect(Math.max(...counts), 'measurements').to.be.at.least(count - most);
  expect(LABELS).to.include.members(labelsOf(metrics).flatMap((labels) => Object.keys(labels)));
}

export async function expectNoIds(mode: Mode, count: number): Promise<void> {
  const answers = (name: string, prompts: number): ScriptedAnswer =>
    prompts === 0 ? asks(name, 0) : withModel('m');
  const labels = labelsOf(await measureTurns(mode, count, { answer: answers }));

  expect(labels.length).to.be.within(6, 20);
  expect(everythingIn(labels)).to.not.match(/conversation|call name|id of|reason|[0-9a-f]{32}/);
}

/** Expects a limited number of series if each turn has its own advisor. */
export async function expectSharedLimits(count: number, most: number): Promise<void> {
  const { meter, collect } = recordMetrics();
  const turns = { answer: () => 'a', model: (name: string) => `model ${name}` };
  await measureTurns('call', count, turns, () => new ObservabilityAdvisor({ meter }));

  expect(labelsOf(await collect()).length).to.be.within(3, most);
}
