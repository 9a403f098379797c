/** A part of the sources, and how many of a hundred mistakes in it the tests have to notice. */
export interface Area {
  readonly name: string
  /** Globs below `src`. */
  readonly sources: readonly string[]
  readonly target: number
  /** The last measurement. With a part of the tests it is too low. */
  readonly last: {
    readonly mutants: number
    readonly noticed: number
    readonly seed: string
    readonly tests: 'all' | 'part'
  }
}

export const AREAS: readonly Area[] = [
  {
    name: 'plan',
    sources: ['plan/**/*.ts'],
    target: 97,
    last: { mutants: 40, noticed: 38, seed: '24a', tests: 'all' },
  },
  {
    name: 'reconcile',
    sources: ['reconcile/**/*.ts'],
    target: 90,
    last: { mutants: 40, noticed: 37, seed: '23a', tests: 'all' },
  },
  {
    name: 'platform',
    sources: ['platform/**/*.ts'],
    target: 90,
    last: { mutants: 40, noticed: 37, seed: 's19a', tests: 'all' },
  },
  {
    name: 'ledger',
    sources: ['ledger/**/*.ts'],
    target: 90,
    last: { mutants: 40, noticed: 38, seed: '23a', tests: 'all' },
  },
  {
    name: 'comparing and masks',
    sources: [
      'kinds/{compare-body,record-pairs,fingerprint,canonical,field-table,instant}.ts',
      'lib/mask/*.ts',
    ],
    target: 95,
    last: { mutants: 40, noticed: 39, seed: '39c3', tests: 'part' },
  },
  {
    name: 'exit codes',
    sources: ['cli/commands/*.ts'],
    target: 80,
    last: { mutants: 40, noticed: 33, seed: '39e2', tests: 'part' },
  },
  {
    name: 'page',
    sources: ['server/page/{manifest,markup,states,time}.js'],
    target: 80,
    last: { mutants: 40, noticed: 37, seed: '39c3', tests: 'part' },
  },
]

/** Mistakes that change nothing that a test can see. They are not made. */
export const EQUIVALENT: readonly {
  readonly file: string
  /** A part of the line. */
  readonly line: string
  readonly what: string
  readonly why: string
}[] = [
  {
    file: 'sandbox-command.ts',
    line: 'if (!profile.ok) misuse(',
    what: 'statement dropped',
    why: 'The choices of --profile refuse other names before. It narrows the type.',
  },
  {
    file: 'send-create.ts',
    line: 'client.destroy().catch(',
    what: 'statement dropped',
    why: 'Each end of the exchange has closed the one connection before. It releases the client all the same.',
  },
  {
    file: 'open-connection.ts',
    line: 'const SLACK_MS =',
    what: 'constant times 1000',
    why: 'The limit of undici comes first. This one ends a wait of which undici says nothing.',
  },
  {
    file: 'open-connection.ts',
    line: "signal.addEventListener('abort', () => reject(new errors.ConnectTimeoutError())",
    what: 'statement dropped',
    why: 'As SLACK_MS.',
  },
  {
    file: 'record-watch.ts',
    line: 'if (passedMs < apartMs) await pause(',
    what: '< became <=',
    why: 'At the boundary, the pause has no length.',
  },
  {
    file: 'assess.ts',
    line: '|| !isCreateOnce(manifest) || body === undefined ||',
    what: '|| became &&',
    why: 'Only bugs come here. It narrows the types.',
  },
  {
    file: 'upsert.ts',
    line: "input.lifecycle !== 'upsert' || body === undefined ||",
    what: '|| became &&',
    why: 'Only bugs come here. It narrows the types.',
  },
]
