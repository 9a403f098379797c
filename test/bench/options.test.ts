import { describe, expect, it } from 'vitest'
import { readOptions } from './options.ts'

const ROWS = ['load', 'start']

describe('npm run bench', () => {
  it.each<[string, readonly string[], object]>([
    [
      'measures everything',
      [],
      { sizes: [100, 1_000, 10_000], rows: [], runs: 5, isShort: false, json: undefined },
    ],
    [
      'measures less in CI',
      ['--short'],
      { sizes: [100, 1_000], rows: [], runs: 2, isShort: true, json: undefined },
    ],
    [
      'measures what was asked for, small sizes first',
      ['--sizes', '1000,100', '--rows', 'start', '--runs', '2', '--json', 'x.json'],
      { sizes: [100, 1_000], rows: ['start'], runs: 2, isShort: false, json: 'x.json' },
    ],
  ])('%s', (_, args, run) => {
    expect(readOptions(args, ROWS)).toEqual(run)
  })

  it.each([
    [['--wrong'], "Unknown option '--wrong'"],
    [['--sizes'], "Option '--sizes <value>' argument missing"],
    [['start'], "Unexpected argument 'start'"],
    [['--rows', 'stop'], '--rows: there is no stop; there are load, start'],
    [['--sizes', '19'], '--sizes: give whole numbers from 20 to 20000, with commas between'],
    [['--sizes', '100,'], '--sizes: give whole numbers from 20 to 20000, with commas between'],
    [['--runs', '0'], '--runs: give a whole number from 1'],
  ])('says in one line what is wrong with %j', (args, fault) => {
    expect(() => readOptions(args, ROWS)).toThrow(new Error(fault))
  })
})
