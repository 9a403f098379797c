/** A part of the sources, and how many of a hundred mistakes in it the tests have to notice. */
export interface Area {
  readonly name: string
  /** Globs below `src`. */
  readonly sources: readonly string[]
  readonly target: number
  /** The last measurement. Not all tests ran: it is too low. */
  readonly last?: { readonly mutants: number; readonly noticed: number; readonly seed: string }
}

export const AREAS: readonly Area[] = [
  { name: 'plan', sources: ['plan/**/*.ts'], target: 97, last: { mutants: 45, noticed: 40, seed: 'first' } },
  {
    name: 'reconcile',
    sources: ['reconcile/**/*.ts'],
    target: 90,
    last: { mutants: 45, noticed: 32, seed: 'first' },
  },
  {
    name: 'platform',
    sources: ['platform/**/*.ts'],
    target: 90,
    last: { mutants: 45, noticed: 31, seed: 'first' },
  },
  {
    name: 'ledger',
    sources: ['ledger/**/*.ts'],
    target: 90,
    last: { mutants: 45, noticed: 27, seed: 'first' },
  },
  {
    name: 'comparing and masks',
    sources: [
      'kinds/{compare-body,record-pairs,fingerprint,canonical,field-table,instant}.ts',
      'lib/mask/*.ts',
    ],
    target: 95,
    last: { mutants: 60, noticed: 49, seed: 'first' },
  },
  { name: 'exit codes', sources: ['cli/commands/*.ts', 'cli/run-command.ts'], target: 80 },
  { name: 'page', sources: ['server/page/{compared,elements,states,time}.js'], target: 80 },
]

/** Mistakes that change nothing that a test can see. They are not made. */
export const EQUIVALENT: readonly {
  readonly file: string
  /** A part of the line. */
  readonly line: string
  readonly what: string
  readonly why: string
}[] = []
