/** The verdict on a question that is judged beside the model. */
export class Gate {
  isOpen = false;
  /** Rejects with the error of a rule; never resolves if the question is refused. */
  readonly opened: Promise<void>;

  /** @param verdict resolves with true if the question passes */
  constructor(verdict: Promise<boolean>) {
    this.opened = new Promise((resolve, reject) => {
      verdict.then((passes) => {
        this.isOpen = passes;
        if (passes) resolve();
      }, reject);
    });
    this.opened.catch(() => undefined); // the guard of the question reports the error
  }
}
