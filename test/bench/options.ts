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

const SMALLEST = 20
const LARGEST = 20_000

/** @param known names of all rows. @throws Error with what is wrong, in a line */
export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parsed(args)
  const sizes = (values.sizes ?? (values.short ? '100,1000' : '100,1000,10000')).split(',').map(Number)
  const runs = Number(values.runs ?? (values.short ? 2 : 5))
  const rows = values.rows.split(',').filter((name) => name !== '')
  const unknown = rows.filter((name) => !known.includes(name))
  if (!sizes.every((size) => Number.isInteger(size) && size >= SMALLEST && size <= LARGEST))
    throw new Error(`--sizes: give whole numbers from ${SMALLEST} to ${LARGEST}, with commas between`)
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs: give a whole number from 1')
  if (unknown.length > 0)
    throw new Error(`--rows: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`)
  return { sizes: sizes.toSorted((a, b) => a - b), rows, runs, isShort: values.short, json: values.json }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        sizes: { type: 'string' },
        rows: { type: 'string', default: '' },
        runs: { type: 'string' },
        json: { type: 'string' },
        short: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // What parseArgs says goes on with advice about options that begin with a dash.
    throw new Error(String((error as Error).message.split('. ')[0]), { cause: error })
  }
}
