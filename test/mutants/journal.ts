/** An environment variable: the file in which `runner.ts` tells `main.ts` what it found, one line each. */
export const JOURNAL = 'MUTANTS_JOURNAL'

export type Line =
  | { readonly is: 'begun' }
  | { readonly is: 'tried'; readonly mutant: number }
  | { readonly is: 'noticed'; readonly mutant: number; readonly test: string }
  /** The test fails without a mistake. */
  | { readonly is: 'red'; readonly test: string }
  /** The test fails after this mistake, also without it. The process ends. */
  | { readonly is: 'spoiled'; readonly mutant: number; readonly file: string }
  | { readonly is: 'file'; readonly file: string; readonly ms: number; readonly mutants: readonly number[] }
  /** The test takes too long to be repeated for each of these. */
  | { readonly is: 'slow'; readonly file: string; readonly mutants: readonly number[] }
