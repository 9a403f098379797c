import { parseArgs } from 'node:util'

export interface Options {
  /** Numbers of manifests, growing. */
  readonly sizes: readonly number[]
  /** Names of rows; all when empty. */
  readonly rows: readonly string[]
  readonly runs: number
  /** Where the results go as JSON. */
  readonly json: string | undefined
}

/** @throws Error with what is wrong, for wrong use */
export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string' },
      rows: { type: 'string', default: '' },
      runs: { type: 'string' },
      json: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  })
  const sizes = (values.sizes ?? (values.short ? '100,1000' : '100,1000,10000')).split(',').map(Number)
  const runs = Number(values.runs ?? (values.short ? 3 : 5))
  const rows = values.rows.split(',').filter((name) => name !== '')
  const unknown = rows.filter((name) => !known.includes(name))
  if (!sizes.every((size) => Number.isInteger(size) && size >= 20 && size <= 20_000)) {
    throw new Error('--sizes: give whole numbers from 20 to 20000, with commas between')
  }
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs: give a whole number from 1')
  if (unknown.length > 0)
    throw new Error(`--rows: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`)
  return { sizes: sizes.toSorted((a, b) => a - b), rows, runs, json: values.json }
}
