/** Types of setup/client.mjs for the test that holds the generated modules against it. */
export const REPORTS: string[];
export function clientModule(report: string): Promise<{ text: string; inputs: string[] }>;
