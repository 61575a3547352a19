/** Takes a variable out of the environment for each test of a suite, and puts it back. */
export function withoutVariable(name: string): void {
  let before: string | undefined;

  beforeEach(() => {
    before = process.env[name];
    delete process.env[name];
  });
  afterEach(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}
