import { itChecksArguments } from '../support/argument-laws.js';

itChecksArguments({ texts: 20_000, schemas: 500, values: 2_000 });
