import { itChecksArguments } from '../support/argument-laws.js';

itChecksArguments({ texts: 1_000, schemas: 20, values: 100 });
