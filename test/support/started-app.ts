import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A server of `examples/apps` in a process of its own. */
export interface StartedApp {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts a server as its command of package.json does, on a free port; resolves when it has printed its address. */
export function startApp(
  path: string,
  env: Readonly<Record<string, string>> = {},
): Promise<StartedApp> {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/apps/${path}`], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      TSX_TSCONFIG_PATH: 'examples/apps/tsconfig.json',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = (): Promise<void> => {
    child.kill();
    return closed;
  };
  let printed = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    void closed.then(() => reject(new Error(`${path} has ended:\n${printed}`)));
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
        if (origin) resolve({ origin, stop });
      });
  });
}
