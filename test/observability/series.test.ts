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
import { MODES, type Mode } from '../advisors/turn.js';
import { everythingIn, recordMetrics } from './records.js';

const TURNS = 10_000;
/** For labels that come from a set, of which the largest has 1,000 values. */
const ENOUGH = 2_500;

/** An error class that somebody makes up at run time, with a code of its own. */
class MadeUpError extends AdvisorChainError {
  constructor(readonly code: string) {
    super('no');
    this.name = `${code}_error`;
  }
}

/** What is new in each of many turns. */
interface Turns {
  /** @param name another one for each turn */
  readonly answer: (name: string, prompts: number) => ScriptedAnswer;
  readonly toolName?: (name: string) => string;
  readonly model?: (name: string) => string;
  readonly provider?: (name: string) => ChatModel['provider'];
}

/** What a user of its own, a model of its own and so on make of metrics, over many turns. */
async function measure(
  mode: Mode,
  count: number,
  { answer, toolName, model, provider }: Turns,
  observe?: () => Advisor,
): Promise<readonly MetricData[]> {
  const { meter, collect } = recordMetrics();
  const shared = new ObservabilityAdvisor({ meter });
  for (let turn = 0; turn < count; turn++) {
    const name = `name_${turn}`;
    const scripted = new ScriptedChatModel((_prompt, index) => answer(name, index), model ? { model: model(name) } : {});
    const spec = ChatClient.create(provider ? Object.assign(scripted, { provider: provider(name) }) : scripted)
      .prompt('Hi.')
      .tools(defineTool({ name: toolName?.(name) ?? 'look', execute: () => 'found' }))
      .advisors((a) => a.param(CONVERSATION_ID, `conversation ${name}`))
      .advisors(observe?.() ?? shared);
    const done = mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
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
    generations: [{ finishReason: `reason ${model}`, message: { role: 'assistant', text: 'a', toolCalls: [] } }],
  });
const asks = (name: string, prompts: number, tool = 'look'): ScriptedAnswer =>
  prompts === 0 ? { toolCalls: [{ id: `call ${name}`, name: tool }] } : 'done';

const CASES: Readonly<Record<string, { readonly turns: Turns; readonly most: number; readonly count?: number }>> = {
  'conversations, turns and calls': { turns: { answer: asks }, most: 20, count: TURNS },
  'models that are asked for': { turns: { answer: () => 'a', model: (name) => `model ${name}` }, most: 1_000 },
  'models that say they answered': { turns: { answer: withModel }, most: 1_000 },
  'tools that are made up': { turns: { answer: (name, prompts) => asks(name, prompts, name) }, most: 20 },
  'tools that are there': { turns: { answer: (name, prompts) => asks(name, prompts, name), toolName: (name) => name }, most: 2_000 },
  'providers and servers': {
    turns: { answer: () => 'a', provider: (name) => ({ name: `provider ${name}`, address: `${name}.example.org`, port: 1 }) },
    most: 1_000,
  },
  'classes of errors': { turns: { answer: (name) => Object.assign(new Error(name), { name }) }, most: 20 },
  'codes of errors': { turns: { answer: (name) => new MadeUpError(name) }, most: 1_000 },
  'statuses of errors': { turns: { answer: (name) => new ModelCallError(name, { status: Number(name.slice(5)) }) }, most: 1_000 },
};

describe('series of metrics', function () {
  this.timeout(120_000);

  for (const [what, { turns, most, count = ENOUGH }] of Object.entries(CASES))
    it(`[F101] are bounded after ${count} turns with as many ${what}`, async () => {
      const metrics = await measure('call', count, turns);
      const counts = metrics.flatMap(({ dataPoints }) => dataPoints.map(({ value }) => (typeof value === 'number' ? value : value.count)));

      expect(labelsOf(metrics).length, 'series').to.be.within(3, most);
      expect(Math.max(...counts), 'nothing is lost').to.be.at.least(count - most);
      expect(LABELS).to.include.members(labelsOf(metrics).flatMap((labels) => Object.keys(labels)));
    });

  for (const mode of MODES)
    it(`[F101] have no id of a conversation, a turn, a call or an answer, ${mode}`, async () => {
      const answers = (name: string, prompts: number): ScriptedAnswer => (prompts === 0 ? asks(name, 0) : withModel('m'));
      const labels = labelsOf(await measure(mode, ENOUGH, { answer: answers }));

      expect(labels.length).to.be.within(6, 20);
      expect(everythingIn(labels)).to.not.match(/conversation|call name|id of|reason|[0-9a-f]{32}/);
    });

  it('[F101] are bounded where each turn has an advisor of its own', async () => {
    const { meter, collect } = recordMetrics();
    await measure('call', ENOUGH, { answer: () => 'a', model: (name) => `model ${name}` }, () => new ObservabilityAdvisor({ meter }));

    expect(labelsOf(await collect()).length).to.be.within(3, 1_000);
  });
});
