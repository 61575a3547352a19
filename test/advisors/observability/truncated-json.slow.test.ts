import { expectListsOfLength, expectListsOfParts } from '../../support/oversized-turns.js';

describe('truncated JSON lists', function () {
  this.timeout(120_000);

  it('[F98] are valid with every limit up to 600 characters', async () => {
    for (let maxLength = 1; maxLength <= 600; maxLength++) await expectListsOfLength(maxLength);
  });

  it('[F98] are valid with any number of parts', async () => {
    for (let count = 1; count <= 400; count += 7) await expectListsOfParts(count);
  });
});
