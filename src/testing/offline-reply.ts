import type { JsonValue } from '../chat/json.js';
import { textOf, type Message } from '../chat/message.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import type { Lack } from './offline-plan.js';
import { ASKING, type AnsweredCall, type Turn } from './offline-turn.js';
import { isVague, stemsOf, wordsOf } from './offline-words.js';

const MAX_QUOTE = 400;

/** The final text of a turn: the results, and what is still wanted from the user. */
export function replyTo(turn: Turn, lacks: readonly Lack[], tools: readonly ToolDefinition[]): string {
  const found = turn.answered.map(describeCall);
  const asked = [...new Set(lacks.map(ask))];
  if (found.length === 0 && asked.length === 0) return recall(turn) ?? explain(tools);
  const results = found.length > 1 ? ['Here is what I found:', ...found.map((line) => `- ${line}`)] : found;
  return [...results, ...(asked.length > 0 ? [ASKING + asked.join(' ')] : [])].join('\n');
}

function describeCall({ name, args, text, value, isError }: AnsweredCall): string {
  const asked = Object.entries(args)
    .filter(([, arg]) => typeof arg !== 'object')
    .map(([key, arg]) => `${words(key)} ${inWords(arg)}`);
  const subject = asked.length > 0 ? `${words(name)} (${asked.join(', ')})` : words(name);
  return isError ? `${subject} failed: ${cut(text)}` : `${subject}: ${cut(inWords(value))}`;
}

/** A result in words: texts and numbers as they are, `{ price: 180 }` as `price 180`. */
function inWords(value: JsonValue): string {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(inWords).join('; ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${words(key)} ${inWords(item)}`)
    .join(', ');
}

function cut(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, '; ');
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line;
}

function words(name: string): string {
  return wordsOf(name)
    .map((word) => (/^\p{Lu}{2,}$/u.test(word.text) ? word.text : word.text.toLowerCase()))
    .join(' ');
}

function ask({ name, parameters }: Lack): string {
  const wanted = parameters.map(({ name: key, description }) => `"${words(key)}"${description ? ` (${firstSentence(description)})` : ''}`);
  return `${words(name)} needs ${wanted.join(' and ')}.`;
}

function firstSentence(text: string): string {
  return text
    .trim()
    .replace(/\.?(?:\s[\s\S]*)?$/, (rest) => (/^\.?$/.test(rest) ? '' : rest))
    .replace(/([.!?])\s[\s\S]*$/, '')
    .replace(/\.$/, '');
}

/** What was said before about the words of the question. */
function recall({ question, earlier }: Turn): string | undefined {
  const stems = stemsOf(question);
  const wanted = stems.every(isVague) ? stems : stems.filter((stem) => !isVague(stem));
  const sentences = earlier.filter((message) => message.role !== 'tool').flatMap(sentencesOf);
  const known = wanted.length === 0 ? [] : sentences.map((sentence) => ({ sentence, share: shareOf(wanted, sentence) }));
  const best = known.sort((a, b) => b.share - a.share)[0];
  return best && best.share >= 0.5 ? `Earlier it was said: "${best.sentence}"` : undefined;
}

function sentencesOf(message: Message): readonly string[] {
  const text = message.role === 'user' ? textOf(message.content) : message.role === 'tool' ? '' : (message.text ?? '');
  return text
    .split(/(?<=[.!])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && !sentence.endsWith('?'));
}

function shareOf(wanted: readonly string[], sentence: string): number {
  const stems = stemsOf(sentence);
  return wanted.filter((stem) => stems.includes(stem)).length / wanted.length;
}

function explain(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return 'I am the offline model: I answer with the results of tools, and I was offered none.';
  const can = tools.slice(0, 8).map(({ name, description }) => `${name} (${firstSentence(description)})`);
  const more = tools.length > can.length ? `, and ${tools.length - can.length} more` : '';
  return `I am the offline model: I answer with the results of tools, and none of those I was offered fits. They are ${can.join(', ')}${more}.`;
}
