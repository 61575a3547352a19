import type { Tracer } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import { ChatClient, defineTool, ObservabilityAdvisor, textOf } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { recordSpans } from './recorded-spans.js';

/** A client whose turns take four iterations of two tool calls, with the user's name everywhere. */
function clientOf(tracer: Tracer): ChatClient {
  const work = defineTool({
    name: 'work',
    input: z.object({ user: z.string() }),
    execute: async ({ user }) => {
      await new Promise(setImmediate);
      tracer.startSpan('query', { attributes: { user } }).end();
      return user;
    },
  });
  const model = new ScriptedChatModel((prompt) => {
    const user = textOf(prompt.userMessage?.content ?? '');
    const results = prompt.messages.filter(({ role }) => role === 'tool').length;
    const call = { name: 'work', arguments: { user } };
    return results < 4 ? { delay: results % 3, toolCalls: [call, call] } : user;
  });
  const observability = new ObservabilityAdvisor({
    tracer,
    attributes: ({ prompt }) => ({ user: textOf(prompt.userMessage?.content ?? '') }),
    captureContent: true,
  });
  return ChatClient.builder(model).defaultTools(work).defaultAdvisors(observability).build();
}

/** Spans of a trace that contain the name of another user than the root span. */
function foreignSpans(spans: readonly ReadableSpan[]): readonly ReadableSpan[] {
  const root = spans.find(({ parentSpanContext }) => !parentSpanContext);
  return spans.filter(({ attributes }) =>
    (JSON.stringify(attributes).match(/user-\d+-/g) ?? []).some(
      (user) => user !== root?.attributes['user'],
    ),
  );
}

/** Runs turns concurrently, and expects a complete trace of each, without content of others. */
export async function expectTurnsApart(count: number): Promise<void> {
  const recording = recordSpans();
  const client = clientOf(recording.tracer);
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const spec = client.prompt(`user-${at}-`);
      await (at % 2 ? spec.call().content() : lastValueFrom(spec.stream().chatResponse()));
    }),
  );
  const traces = new Map<string, ReadableSpan[]>();
  for (const span of recording.spans) {
    const { traceId } = span.spanContext();
    traces.set(traceId, [...(traces.get(traceId) ?? []), span]);
  }
  const sizes = new Set([...traces.values()].map((spans) => spans.length));

  expect(traces.size).to.equal(count);
  expect(sizes).to.deep.equal(new Set([1 + 1 + 3 + 4 + 4]));
  expect([...traces.values()].flatMap(foreignSpans)).to.deep.equal([]);
  expect(recording.problems).to.deep.equal([]);
}
