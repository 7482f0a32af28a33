import type { TransformOptions, TransformResult } from 'esbuild';

/** The script with its numeric constants in place. */
export function foldConstants(
  text: string,
  transform: (text: string, options: TransformOptions) => Promise<TransformResult>,
  options: TransformOptions,
): Promise<string>;
