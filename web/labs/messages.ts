// Between the page of the labs and its worker. Everything is plain data.
import type { PortableLab, Texts } from '../../grade/judge/portable.ts';
import type { CheckScore, LabScore } from '../../grade/schema.ts';

/** `labs.packed`; with `builder` where the page's host is `kcovbox serve`. */
export interface Labs {
  readonly kcovbox: string;
  readonly labs: readonly PortableLab[];
  /** Path of the compiler of programs and kernels. */
  readonly builder?: string;
}

/** To the worker: judge these files. */
export interface Wish {
  readonly kcovbox: string;
  readonly lab: PortableLab;
  readonly files: Texts;
  /** The whole address. */
  readonly builder: string | undefined;
  /** Ids of checks. */
  readonly only: readonly string[];
}

/** From the worker. */
export type News =
  | { readonly kind: 'decided'; readonly check: CheckScore; readonly capsule: Uint8Array | undefined }
  | { readonly kind: 'done'; readonly score: LabScore }
  | { readonly kind: 'failed'; readonly why: string };
