/** A part of the sources, the tests that have to notice its mistakes, and how many of a hundred they have to notice. */
export interface Area {
  readonly name: string
  /** Globs below `src`. */
  readonly sources: readonly string[]
  /** In the order in which they run. */
  readonly tests: readonly string[]
  readonly target: number
}

export const AREAS: readonly Area[] = [
  {
    name: 'plan',
    sources: ['plan/**/*.ts'],
    tests: ['test/plan', 'test/reconcile', 'test/explore', 'test/clickhouse-cloud'],
    target: 97,
  },
  {
    name: 'reconcile',
    sources: ['reconcile/**/*.ts'],
    tests: ['test/reconcile', 'test/explore', 'test/clickhouse-cloud', 'test/ways-out'],
    target: 90,
  },
  {
    name: 'platform',
    sources: ['platform/**/*.ts'],
    tests: ['test/platform', 'test/clickhouse-cloud'],
    target: 90,
  },
  {
    name: 'ledger',
    sources: ['ledger/**/*.ts'],
    tests: ['test/ledger', 'test/kubernetes', 'test/ways-out'],
    target: 90,
  },
  {
    name: 'comparing and masks',
    sources: [
      'kinds/{compare-body,record-pairs,fingerprint,canonical,field-table,instant}.ts',
      'lib/mask/*.ts',
    ],
    tests: ['test/kinds', 'test/lib', 'test/clickhouse-cloud'],
    target: 95,
  },
  {
    name: 'exit codes and page',
    sources: ['cli/commands/*.ts', 'cli/run-command.ts', 'server/page/*.js'],
    tests: ['test/cli', 'test/main', 'test/server', 'test/ways-out', 'test/clickhouse-cloud'],
    target: 80,
  },
]
