import { itSurvivesKills } from '../support/durable-kills.js';

itSurvivesKills(Array.from({ length: 40 }, (_, at) => at + 1));
