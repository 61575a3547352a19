/** Starts to measure; returns the milliseconds of work since then. Other programs that are busy do not change it. */
export function cpuTime(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
}
