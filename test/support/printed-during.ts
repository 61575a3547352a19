/** The lines that `console.error` gets meanwhile. */
export async function printedDuring(work: () => Promise<unknown>): Promise<readonly unknown[][]> {
  const printed: unknown[][] = [];
  const { error } = console;
  console.error = (...line) => void printed.push(line);
  try {
    await work();
  } finally {
    console.error = error;
  }
  return printed;
}
