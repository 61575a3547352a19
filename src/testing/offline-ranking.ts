import type { ToolDefinition } from '../chat/tool-definition.js';
import { isVague, relatedStems, stemsOf } from './offline-words.js';

/** How well a tool fits some words. */
export interface Fit {
  readonly tool: ToolDefinition;
  readonly score: number;
  /** The words of the question that speak for the tool. */
  readonly because: ReadonlySet<string>;
}

/** What a word of the question is worth, by the place in the definition where it stands. */
const WORTH = { name: 3, description: 1.6, choice: 1.6, parameter: 1.4, parameterDescription: 0.5 };
/** Of a word that means the same as one of the definition. */
const RELATED = 0.7;
/** Of a word that begins like one of the definition: `similar` and `similarity`. */
const KIN = 0.7;
const KIN_LENGTH = 6;
/** Of a verb that fits any tool. */
const VAGUE = 0.2;
/** Taken off for each word of a name that the user did not say: of two tools for weather, the plain one is meant. */
const UNSAID = 0.15;
/** With few tools, a word that two of them have still says something: as if there were so many others. */
const OTHERS = 10;
/** A tool fits from here on, and the more the longer the text is: a long text has a word of every tool. */
const LEAST = 1.5;
const LEAST_PER_ROOT = 0.9;

/** Says which of the offered tools fit the words of a question: a word counts more the fewer tools have it. */
export class OfflineRanking {
  private readonly profiles: ReadonlyMap<ToolDefinition, ReadonlyMap<string, number>>;
  private readonly frequency = new Map<string, number>();

  constructor(tools: readonly ToolDefinition[]) {
    this.profiles = new Map(tools.map((tool) => [tool, profileOf(tool)]));
    for (const profile of this.profiles.values())
      for (const [stem, worth] of profile) this.frequency.set(stem, (this.frequency.get(stem) ?? 0) + worth / WORTH.name);
  }

  /** All tools, best first; equal ones keep their order. */
  rank(stems: readonly string[]): readonly Fit[] {
    const fits = [...this.profiles].map(([tool, profile]) => this.fitOf(tool, profile, stems));
    return fits.sort((a, b) => b.score - a.score);
  }

  /** The tools that fit, best first. */
  fitting(stems: readonly string[]): readonly Fit[] {
    const least = Math.max(LEAST, LEAST_PER_ROOT * Math.sqrt(stems.length));
    return this.rank(stems).filter((fit) => fit.score >= least);
  }

  private fitOf(tool: ToolDefinition, profile: ReadonlyMap<string, number>, stems: readonly string[]): Fit {
    let score = 0;
    const because = new Set<string>();
    for (const stem of stems) {
      const worth = this.worthOf(profile, stem);
      score += worth;
      if (worth >= 1) because.add(stem);
    }
    const isSaid = (stem: string): boolean => because.has(stem) || relatedStems(stem).some((other) => because.has(other));
    const unsaid = stemsOf(tool.name).filter((stem) => !isVague(stem) && !isSaid(stem)).length;
    return { tool, score: score - unsaid * UNSAID, because };
  }

  private worthOf(profile: ReadonlyMap<string, number>, stem: string): number {
    const own = (profile.get(stem) ?? 0) * this.rarity(stem);
    const related = Math.max(0, ...relatedStems(stem).map((other) => (profile.get(other) ?? 0) * this.rarity(other) * RELATED));
    const kin = own === 0 && stem.length >= KIN_LENGTH ? this.kinOf(profile, stem) : 0;
    return Math.max(own, related, kin) * (isVague(stem) ? VAGUE : 1);
  }

  private kinOf(profile: ReadonlyMap<string, number>, stem: string): number {
    const beginning = stem.slice(0, KIN_LENGTH);
    let most = 0;
    for (const [other, worth] of profile) if (other.startsWith(beginning)) most = Math.max(most, worth * this.rarity(other) * KIN);
    return most;
  }

  /** 1 for a word that one tool has, towards 0.3 for a word that all have. */
  private rarity(stem: string): number {
    const tools = this.profiles.size + OTHERS;
    return Math.log(1 + tools / Math.max(1, this.frequency.get(stem) ?? 1)) / Math.log(1 + tools);
  }
}

function profileOf({ name, description, inputSchema }: ToolDefinition): ReadonlyMap<string, number> {
  const profile = new Map<string, number>();
  const add = (text: string, worth: number): void => {
    for (const stem of stemsOf(text)) profile.set(stem, Math.max(worth, profile.get(stem) ?? 0));
  };
  add(name, WORTH.name);
  add(description, WORTH.description);
  const properties = inputSchema['properties'];
  if (typeof properties !== 'object' || properties === null) return profile;
  for (const [key, schema] of Object.entries(
    properties as Readonly<Record<string, { readonly description?: unknown; readonly enum?: unknown }>>,
  )) {
    add(key, WORTH.parameter);
    if (typeof schema?.description === 'string') add(schema.description, WORTH.parameterDescription);
    if (Array.isArray(schema?.enum)) add(schema.enum.filter((value) => typeof value === 'string').join(' '), WORTH.choice);
  }
  return profile;
}
