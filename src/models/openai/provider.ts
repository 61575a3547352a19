import type { ModelProvider } from '../../chat/chat-model.js';

/** Ends of hosts, and who answers there, by the names that OpenTelemetry has for `gen_ai.provider.name`. */
const PROVIDERS: readonly (readonly [end: string, name: string])[] = [
  ['api.openai.com', 'openai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['cognitiveservices.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['models.ai.azure.com', 'azure.ai.inference'],
  ['amazonaws.com', 'aws.bedrock'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['api.anthropic.com', 'anthropic'],
  ['api.cohere.com', 'cohere'],
  ['api.cohere.ai', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
];

/**
 * Who answers at an address. Where nobody is known to, it is `openai`, whose protocol is spoken there; the host tells them apart.
 * @param name in place of the one that the address says
 */
export function providerAt(baseURL: string, name?: string): ModelProvider {
  if (!URL.canParse(baseURL)) return { name: name ?? 'openai' };
  const { hostname, port, protocol } = new URL(baseURL);
  const known = PROVIDERS.find(([end]) => hostname === end || hostname.endsWith(`.${end}`) || hostname.endsWith(`-${end}`));
  return { name: name ?? known?.[1] ?? 'openai', address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}
