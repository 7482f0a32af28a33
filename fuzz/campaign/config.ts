// The size of a campaign's epochs.
import type { CampaignConfig } from '../../run/fuzz/schema.ts';

/** Executions of an epoch. */
export const epochSize = ({ batches, perBatch }: CampaignConfig): number => batches * perBatch;
