// Prints the bill of materials of the package, which must be built.
import { rmSync } from 'node:fs';
import { scratch } from './commands.mjs';
import { billOfMaterials, pack } from './package-steps.mjs';

try {
  pack();
  process.stdout.write(billOfMaterials());
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
