/** Milliseconds as people read them: `0.4 ms`, `340 ms`, `2.31 s`, `1 min 04 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return milliseconds <= 0 ? '0 ms' : `${milliseconds.toFixed(1)} ms`;
  if (Math.round(milliseconds) < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_995) return `${(milliseconds / 1_000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** A count in few characters: `950`, `12.3k`, `4.56M`. */
export function count(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 2 : 1)}k`;
  return `${(value / 1_000_000).toFixed(2)}M`;
}

/** A cost in the unit of its prices, with two digits that mean something. */
export function cost(value: number): string {
  if (value === 0) return '0';
  return value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 4 : 2);
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1_000).toFixed(0)} kB`;
  return `${(value / 1_000_000).toFixed(1)} MB`;
}

/** The size of media: base64, or the `[6 bytes]` that JSON has in place of bytes. */
export function mediaSize(data: string | Uint8Array): string {
  if (typeof data !== 'string') return bytes(data.length);
  return bytes(Number(/^\[(\d+) bytes\]$/.exec(data)?.[1] ?? Math.floor((data.length * 3) / 4)));
}

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of a day: `14:03:22`. */
export const timeOfDay = (time: number): string => TIME.format(time);
export const dateAndTime = (time: number): string => DATE_TIME.format(time);

/** `1 tool call`, `3 tool calls`. */
export const plural = (value: number, noun: string): string =>
  `${value} ${noun}${value === 1 ? '' : 's'}`;
