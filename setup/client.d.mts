/** Types of setup/client.mjs for the test that holds the generated module against it. */
export function clientModule(): Promise<{ text: string; inputs: string[] }>;
