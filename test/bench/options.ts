import { parseArgs } from 'node:util'

export interface Options {
  /** Numbers of manifests, growing. */
  readonly sizes: readonly number[]
  /** Names of rows; all when empty. */
  readonly rows: readonly string[]
  readonly runs: number
  /** Whether rows are left out at sizes at which nothing is held. */
  readonly isShort: boolean
  /** Where the results go as JSON. */
  readonly json: string | undefined
}

/** What was asked for: a run, or words for the one who asks and the exit code that goes with them. */
export type Reading =
  | { readonly run: Options }
  | { readonly help: string; readonly exitCode: 0 }
  | { readonly fault: string; readonly exitCode: 64 }

const SMALLEST = 20
const LARGEST = 20_000

/** @param known names of all rows */
export function readOptions(args: readonly string[], known: readonly string[]): Reading {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        sizes: { type: 'string' },
        rows: { type: 'string', default: '' },
        runs: { type: 'string' },
        json: { type: 'string' },
        short: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { help: usage(known), exitCode: 0 }
    const sizes = (values.sizes ?? (values.short ? '100,1000' : '100,1000,10000')).split(',').map(Number)
    const runs = Number(values.runs ?? (values.short ? 2 : 5))
    const rows = values.rows.split(',').filter((name) => name !== '')
    const fault = faultOf({ sizes, rows, runs }, known)
    if (fault !== undefined) return wrong(fault)
    return {
      run: { sizes: sizes.toSorted((a, b) => a - b), rows, runs, isShort: values.short, json: values.json },
    }
  } catch (error) {
    // What parseArgs says goes on with advice about options that begin with a dash.
    return wrong(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

function faultOf(
  { sizes, rows, runs }: Pick<Options, 'sizes' | 'rows' | 'runs'>,
  known: readonly string[],
): string | undefined {
  if (!sizes.every((size) => Number.isInteger(size) && size >= SMALLEST && size <= LARGEST))
    return `--sizes: give whole numbers from ${SMALLEST} to ${LARGEST}, with commas between`
  if (!Number.isInteger(runs) || runs < 1) return '--runs: give a whole number from 1'
  const unknown = rows.filter((name) => !known.includes(name))
  if (unknown.length > 0) return `--rows: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`
  return undefined
}

function wrong(fault: string): Reading {
  return { fault: `bench: ${fault}; --help shows what there is`, exitCode: 64 }
}

function usage(known: readonly string[]): string {
  return `npm run bench -- [options]

Measures each row of design §13 beside its floor, and ends with 1 when a row is worse than twice its target, or when something
was seen that must never be. With --short, times are only shown. docs/contributing/performance.md says what the rows are.

  --sizes N,N    numbers of manifests, from ${SMALLEST} to ${LARGEST}; 100,1000,10000 unless set
  --rows A,B     only these rows, of ${known.join(', ')}; all but the tf rows, which take minutes, unless set
  --runs N       runs of each row, whose median counts; 5 unless set
  --short        for CI: sizes 100 and 1000, two runs, and only what is held at them
  --json FILE    writes the results to a file as well, after each row
  --help         shows this`
}
