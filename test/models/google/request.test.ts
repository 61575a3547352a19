import { expect } from 'chai';
import type { ChatOptions } from '../../../src/index.js';
import { isGemini3, toOptionFields } from '../../../src/models/google/request.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

const onWire = (options: ChatOptions, isVertex = false): JsonObject =>
  JSON.parse(JSON.stringify(toOptionFields(options, isVertex))) as JsonObject;
const tool = (name: string, strict?: boolean) => ({
  definition: {
    name,
    description: `${name}s`,
    inputSchema: { type: 'object', properties: { q: { const: 'x' } } },
    ...(strict !== undefined && { strict }),
  },
});
const declaration = (name: string) => ({
  name,
  description: `${name}s`,
  parametersJsonSchema: { type: 'object', properties: { q: { enum: ['x'] } } },
});

describe('options of a request to Google', () => {
  it('are absent without options', () => {
    expect(onWire({ model: 'm', user: 'u', parallelToolCalls: false })).to.deep.equal({});
  });

  it('are in the generation config', () => {
    const options: ChatOptions = {
      temperature: 0,
      topP: 0.5,
      topK: 4,
      frequencyPenalty: 1,
      presencePenalty: -1,
      maxTokens: 7,
      stopSequences: ['end'],
      seed: 3,
      logprobs: true,
      topLogprobs: 2,
    };

    expect(onWire(options)).to.deep.equal({
      generationConfig: {
        temperature: 0,
        topP: 0.5,
        topK: 4,
        frequencyPenalty: 1,
        presencePenalty: -1,
        maxOutputTokens: 7,
        stopSequences: ['end'],
        seed: 3,
        responseLogprobs: true,
        logprobs: 2,
      },
    });
    expect(onWire({ maxTokens: 7, maxCompletionTokens: 8 })).to.deep.equal({
      generationConfig: { maxOutputTokens: 8 },
    });
  });

  const efforts: readonly (readonly [model: string, effort: string, config: JsonObject])[] = [
    ['gemini-3-pro-preview', 'low', { thinkingLevel: 'low' }],
    ['gemini-flash-latest', 'high', { thinkingLevel: 'high' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 24_576 }],
    ['gemini-2.5-pro', 'extreme', { thinkingLevel: 'extreme' }],
  ];
  for (const [model, reasoningEffort, thinkingConfig] of efforts)
    it(`ask ${model} to think with effort ${reasoningEffort}`, () => {
      expect(onWire({ model, reasoningEffort })).to.deep.equal({
        generationConfig: { thinkingConfig },
      });
    });

  it('ask for JSON, with a schema or without', () => {
    const schema = { $schema: 's', type: 'object', properties: {} };

    expect(onWire({ responseFormat: 'text' })).to.deep.equal({});
    expect(onWire({ responseFormat: 'json' })).to.deep.equal({
      generationConfig: { responseMimeType: 'application/json' },
    });
    expect(onWire({ responseFormat: { schema } })).to.deep.equal({
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object', properties: {} },
      },
    });
  });

  it('offer tools in one list, before tools of the provider', () => {
    const body = onWire({ tools: [tool('f'), tool('g')], providerTools: [{ googleSearch: {} }] });

    expect(body).to.deep.equal({
      tools: [{ functionDeclarations: [declaration('f'), declaration('g')] }, { googleSearch: {} }],
    });
    expect(onWire({ providerTools: [{ urlContext: {} }], toolChoice: 'auto' })).to.deep.equal({
      tools: [{ urlContext: {} }],
    });
  });

  const choices: readonly (readonly [
    title: string,
    options: ChatOptions,
    config: JsonObject | undefined,
  ])[] = [
    ['auto', { toolChoice: 'auto' }, { mode: 'AUTO' }],
    ['none', { toolChoice: 'none', strictTools: true }, { mode: 'NONE' }],
    ['required', { toolChoice: 'required' }, { mode: 'ANY' }],
    ['one tool', { toolChoice: { tool: 'f' } }, { mode: 'ANY', allowedFunctionNames: ['f'] }],
    ['strict tools', { strictTools: true }, { mode: 'VALIDATED' }],
    ['a strict tool', { tools: [tool('f', true)], toolChoice: 'auto' }, { mode: 'VALIDATED' }],
    ['no strict tool', { tools: [tool('f', false)], strictTools: true }, undefined],
  ];
  for (const [title, options, functionCallingConfig] of choices)
    it(`choose tools: ${title}`, () => {
      const { toolConfig } = onWire({ tools: [tool('f')], ...options });

      expect(toolConfig).to.deep.equal(functionCallingConfig && { functionCallingConfig });
    });

  it('have the metadata as labels on Vertex AI alone', () => {
    expect(onWire({ metadata: { team: 'a' } }, true)).to.deep.equal({ labels: { team: 'a' } });
    expect(onWire({ metadata: { team: 'a' } })).to.deep.equal({});
  });

  it('are merged with extraBody, which wins', () => {
    const body = onWire({
      temperature: 1,
      seed: 1,
      extraBody: {
        generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true } },
        safetySettings: [{ category: 'c' }],
      },
    });

    expect(body).to.deep.equal({
      generationConfig: { temperature: 0, seed: 1, thinkingConfig: { includeThoughts: true } },
      safetySettings: [{ category: 'c' }],
    });
  });

  it('depend on the generation of the model', () => {
    const names = ['gemini-3-pro', 'models/gemini-10-pro', 'gemini-2.5-pro', 'gemini-1.5-pro-002'];

    expect(names.map((name) => isGemini3(name))).to.deep.equal([true, true, false, false]);
  });
});
