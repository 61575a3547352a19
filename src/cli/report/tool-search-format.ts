import type { Interval, QueryResult, SearchQuality } from './tool-search-quality.js';
import type { ToolSearchReport } from './tool-search-report.js';

const MAX_QUERY = 100;

/** Formats the figures of a report as lines of text. */
export function formatReport(report: Omit<ToolSearchReport, 'toString'>): string {
  const { tokens, time, worst } = report;
  const saved =
    tokens.saved < 0 ? `${percent(-tokens.saved)} more` : `${percent(tokens.saved)} saved`;
  return [
    `${report.tools} tools, ${report.queries} queries`,
    qualityLine(report.intervals),
    `tokens of definitions: ${tokens.all} for all tools, ${Math.round(tokens.withSearch)} ` +
      `with search, ${saved}; it pays from ${tokens.breakEvenTools} tools on`,
    `time: index ${time.index.toFixed(1)} ms; search median ${milliseconds(time.median)}, ` +
      `p99 ${milliseconds(time.p99)}, longest ${milliseconds(time.longest)}`,
    `no relevant tool among the first 10 for ${report.missed.length} queries`,
    ...(worst.length > 0 ? ['worst queries, by recall@5:', ...worst.map(worstLine)] : []),
  ].join('\n');
}

/** Formats the differences between two reports as one line. */
export function formatDifference({ recall, meanReciprocalRank }: SearchQuality<Interval>): string {
  const figures = { 'recall@1': recall.at1, 'recall@5': recall.at5, 'recall@10': recall.at10 };
  const parts = Object.entries(figures).map(([name, { mean, low, high }]) => {
    const [middle, ...bounds] = [mean, low, high].map((share) => signed(100 * share, 1));
    return `${name} ${middle} (${bounds.join(' to ')})`;
  });
  const [middle, ...bounds] = [
    meanReciprocalRank.mean,
    meanReciprocalRank.low,
    meanReciprocalRank.high,
  ].map((value) => signed(value, 3));
  return `${parts.join(', ')}, MRR ${middle} (${bounds.join(' to ')})`;
}

function qualityLine({ recall, meanReciprocalRank }: SearchQuality<Interval>): string {
  const shares = { 'recall@1': recall.at1, 'recall@5': recall.at5, 'recall@10': recall.at10 };
  const parts = Object.entries(shares).map(
    ([name, { mean, low, high }]) =>
      `${name} ${percent(mean)} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`,
  );
  const { mean, low, high } = meanReciprocalRank;
  return `${parts.join(', ')}, MRR ${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

function worstLine({ query, relevant, found, recall }: QueryResult): string {
  const line = query.replaceAll(/\s+/g, ' ').trim();
  const shown = line.length > MAX_QUERY ? `${line.slice(0, MAX_QUERY)}…` : line;
  const wanted = relevant.map((one) => [one].flat().join(' or ')).join(', ');
  const instead = found.slice(0, 5).join(', ') || 'nothing';
  return `  ${percent(recall.at5)}  ${shown}\n    wanted ${wanted}; found ${instead}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function milliseconds(value: number): string {
  return `${value.toFixed(3)} ms`;
}

function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) > 0 ? `+${text}` : text;
}
