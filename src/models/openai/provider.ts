import type { ModelProvider } from '../../chat/chat-model.js';

/** Ends of hosts, and who answers there, by the names that OpenTelemetry has for `gen_ai.provider.name`. */
const PROVIDERS: readonly (readonly [end: string, name: string])[] = [
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
];

/** Hosts that begin with a region, or are one of many of their owner. */
const OTHER_HOSTS: readonly (readonly [hosts: RegExp, name: string])[] = [
  [/^([a-z0-9-]+-)?aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)bedrock(-runtime|-mantle)?[.-].*\.?amazonaws\.com$/, 'aws.bedrock'],
];

/**
 * Who answers at an address. Where nobody is known to, it is `openai`, whose protocol is spoken there; the host tells them apart.
 * @param name in place of the one that the address says
 */
export function providerAt(baseURL: string, name?: string): ModelProvider {
  if (!URL.canParse(baseURL)) return { name: name ?? 'openai' };
  const { hostname, port, protocol } = new URL(baseURL);
  const host = hostname.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
  const known =
    PROVIDERS.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1] ?? OTHER_HOSTS.find(([hosts]) => hosts.test(host))?.[1];
  return { name: name ?? known ?? 'openai', address: host, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}
