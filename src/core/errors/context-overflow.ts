/** Report of a server about a request that it refused. */
export interface Refusal {
  readonly status: number | undefined;
  /** The codes and types of the error. */
  readonly codes: readonly string[];
  /** The messages of the error, from a server behind the server, too. */
  readonly texts: readonly string[];
}

/**
 * True if a server refused a request because its input does not fit: into the context window of the
 * model, or into the size of a request. A shorter input may succeed, the same one never will.
 *
 * Codes come first: their meaning is fixed. Most servers have none, and each has its own words.
 */
export function isContextOverflow({ status, codes, texts }: Refusal): boolean {
  if (codes.some((code) => CODES.test(code))) return true;
  // a long text is an echo of the request or a page: the reason is at its start
  const text = texts.map((each) => each.slice(0, MAX_TEXT)).join('\n');
  if (status === 429 || OTHER_REASONS.test(text)) return false;
  return WORDINGS.some((wording) => wording.test(text)) || (status === 413 && !MEDIA.test(text));
}

const MAX_TEXT = 2_000;

const CODES =
  /^(context_(length|window)_exceeded|model_context_window_exceeded|exceed_context_size_error|contextwindowexceedederror|model_max_prompt_tokens_exceeded|tokens_limit_reached|too_many_tokens|request_too_large)$/i;

/** Limits of a time, and messages that repeat the request, with words of a user. */
const OTHER_REASONS =
  /\bper[ _-](second|min(ute)?|hour|day)\b|\b[rt]p[md]\b|rate[ _-]?limit|quota|throttl|too many requests|please wait|"input" ?:/i;

/** Reasons of a 413 that less text does not remove. */
const MEDIA = /\b(image|audio|video|file|pdf|page)s?\b/i;

const CONTEXT = '(?:context[ _-]?(?:length|window|size|limit)|maximum model length)';

/** Every list of such words is incomplete, so words of the topic count, not whole sentences. */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, Azure, vLLM, SGLang, OpenRouter, DeepSeek, llama.cpp, LM Studio, MiniMax, Cloudflare …
  new RegExp(
    `\\b(?:exceed(?:s|ed)?|(?:long|larg|great)er than|maximum|only|overflows?)\\b[^\\n]{0,120}\\b${CONTEXT}`,
    'i',
  ),
  new RegExp(
    `\\b${CONTEXT}\\b[^\\n]{0,80}\\b(?:exceed(?:s|ed)?|overflow(?:s|ed)?|(?:is|of) only)\\b`,
    'i',
  ),
  // Anthropic, Bedrock, Ollama, Baidu
  /\b(?:prompt|inputs?|messages|conversation)(?: tokens?| length)?(?: (?:is|are|was))? too (?:long|large)\b/i,
  // Google, Nova, GitHub Copilot, Poolside, SGLang, watsonx, Triton, OpenAI
  /\b(?:input|prompt)[ _](?:tokens?|length|token[ _]count)\b[^\n]{0,60}\b(?:exceed(?:s|ed)?|must be less than)\b/i,
  // Cohere, Titan
  /\btoo many (?:input tokens|tokens: (?:size limit|total number of tokens))/i,
  // xAI, DashScope, Zhipu, Kimi, Doubao
  /\bmaximum prompt length is \d|\brange of input length should be\b|\bprompt exceeds max(?:imum)? length\b|\bexceeded model token limit\b|\bexceed max message tokens\b/i,
  // Groq, Cerebras, older OpenAI models
  /\breduce the length of (?:the|your) (?:messages|input|prompt|conversation)\b/i,
  // Text Generation Inference, Together
  /`inputs` (?:tokens \+ `max_new_tokens` must be <=|must have less than \d+ tokens)/i,
  // OpenAI: a text or a list of messages that is longer than the API takes
  /\bInvalid '(?:messages|input)(?:\[\d+\]\.(?:content|output)(?:\[\d+\]\.text)?)?': (?:string|array) too long\b/i,
];
