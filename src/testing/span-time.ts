import type { SpanTime } from './span-like.js';

/** A time as `@opentelemetry/api` takes it; a number is milliseconds since 1970, or of `performance.now()`. */
export type SpanTimeInput = SpanTime | Date | number;

/** @param time @default now */
export function toSpanTime(time: SpanTimeInput = performance.now()): SpanTime {
  if (time instanceof Date) return ofMilliseconds(time.getTime());
  if (typeof time !== 'number') return time;
  // the two kinds of numbers are told apart as in the SDK: none of 1970 is from before this process began
  return ofMilliseconds(time < performance.timeOrigin ? performance.timeOrigin + time : time);
}

/** Negative if the first is earlier; what is no time counts as 0. */
export function compareTimes(one: SpanTime | undefined, other: SpanTime | undefined): number {
  return part(one, 0) - part(other, 0) || part(one, 1) - part(other, 1);
}

export function millisecondsBetween(start: SpanTime, end: SpanTime): number {
  return (end[0] - start[0]) * 1e3 + (end[1] - start[1]) / 1e6;
}

export function isTime(time: unknown): time is SpanTime {
  return Array.isArray(time) && Number.isFinite(time[0]) && Number.isFinite(time[1]);
}

function part(time: SpanTime | undefined, index: 0 | 1): number {
  return isTime(time) ? time[index] : 0;
}

function ofMilliseconds(milliseconds: number): SpanTime {
  const seconds = Math.floor(milliseconds / 1e3);
  const nanoseconds = Math.round((milliseconds - seconds * 1e3) * 1e6);
  return nanoseconds < 1e9 ? [seconds, nanoseconds] : [seconds + 1, 0];
}
