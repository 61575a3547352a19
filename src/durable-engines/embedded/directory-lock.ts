import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'owner.lock';
/** Milliseconds after which a taker makes sure that no other one has taken the lock of a dead process, too. */
const CONFIRM = 50;

/** The process that holds a directory. */
interface Owner {
  readonly pid: number;
  /** Start of the process as the system counts it, since process ids are used again; empty if unknown. */
  readonly started: string;
  readonly token: string;
}

/** Takes a directory for this process; false if another process that lives has it. */
export async function lockDirectory(directory: string): Promise<boolean> {
  const file = join(directory, FILE);
  const own: Owner = { pid: process.pid, started: startOf(process.pid), token: randomUUID() };
  while (!create(file, own)) {
    const owner = read(file);
    if (owner && lives(owner)) return false;
    removeDead(file, owner);
  }
  await new Promise((resolve) => setTimeout(resolve, CONFIRM));
  return read(file)?.token === own.token;
}

/** Gives a directory back that this process holds. */
export function unlockDirectory(directory: string): void {
  rmSync(join(directory, FILE), { force: true });
}

function create(file: string, owner: Owner): boolean {
  try {
    writeFileSync(file, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function read(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    // removed meanwhile, or its process died while it wrote
    return undefined;
  }
}

/** Removes the lock of a dead process, unless another process has replaced it meanwhile. */
function removeDead(file: string, dead: Owner | undefined): void {
  const moved = `${file}.${process.pid}`;
  try {
    renameSync(file, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (read(moved)?.token !== dead?.token) linkSync(moved, file);
  rmSync(moved, { force: true });
}

function lives({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return started === startOf(pid);
}

/** Start time of a process in ticks since the start of the system; empty where the system does not show it. */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return `${boot} ${fields[19]}`;
  } catch {
    return '';
  }
}
