import type { ModelProvider } from '../../core/chat/chat-model.js';

/** Ends or forms of host names, and the values of `gen_ai.provider.name` in OpenTelemetry. */
const PROVIDERS: readonly (readonly [hosts: string | RegExp, name: string])[] = [
  ['api.openai.com', 'openai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['cognitiveservices.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['models.ai.azure.com', 'azure.ai.inference'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['api.anthropic.com', 'anthropic'],
  ['api.cohere.com', 'cohere'],
  ['api.cohere.ai', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
  [/^([a-z0-9-]+-)?aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)bedrock(-runtime|-mantle)?[.-].*\.?amazonaws\.com$/, 'aws.bedrock'],
];

/**
 * The provider at an address.
 * @param fallback name of a provider of the same protocol, for hosts that are not known
 * @param name replaces the name that the address implies
 */
export function providerAt(baseURL: string, fallback: string, name?: string): ModelProvider {
  if (!URL.canParse(baseURL)) return { name: name ?? fallback };
  const { hostname, port, protocol } = new URL(baseURL);
  const host = hostname.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
  const known = PROVIDERS.find(([hosts]) =>
    typeof hosts === 'string' ? `.${host}`.endsWith(`.${hosts}`) : hosts.test(host),
  );
  return {
    name: name ?? known?.[1] ?? fallback,
    address: host,
    port: Number(port) || (protocol === 'http:' ? 80 : 443),
  };
}
