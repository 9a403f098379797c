import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Machine, type Result, round, signed } from './report.ts'

/*
 * npm run bench:publish -- FILE.json … : writes what `npm run bench -- --json FILE.json` measured into
 * docs/contributing/performance.md, between its marks. Of two results of a row and a size the later file counts.
 */

interface Report {
  readonly measuredAt: string
  readonly machine: Machine
  readonly results: readonly Result[]
}

const PAGE = fileURLToPath(new URL('../../docs/contributing/performance.md', import.meta.url))
/** As in the table of the page. */
const ORDER = 'load reload pass pass-away change budget memory start validate hostile tf-apply tf-plan'
const BEGIN = '<!-- measured: begin -->'
const END = '<!-- measured: end -->'

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report)
const [first] = reports
if (first === undefined) throw new Error('give the files that npm run bench -- --json wrote')
const byPlace = new Map<string, Result>()
for (const { results } of reports)
  for (const result of results) byPlace.set(`${result.row} ${result.size}`, result)
const results = [...byPlace.values()].toSorted((a, b) => a.size - b.size || order(a.row) - order(b.row))

function order(row: string): number {
  return ORDER.split(' ').indexOf(row)
}

const page = readFileSync(PAGE, 'utf8')
const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]]
if (before === undefined || after === undefined) throw new Error(`${PAGE} has lost its marks`)
writeFileSync(PAGE, `${before}${BEGIN}\n\n${section(first)}\n\n${END}${after}`)

function section({ machine, measuredAt }: Report): string {
  const head =
    '| row | manifests | floor | measured | value | least – most | runs | to reach | |\n|---|--:|--:|--:|--:|--:|--:|--:|---|'
  const lines = results.map((result) => {
    const { row, size, floor, subject, unit, value, least, most, runs, rule, verdict } = result
    const shown = [`${round(floor)} ${unit}`, `${round(subject)} ${unit}`, withSign(result, value)]
    const bound = `${rule.how === 'share' ? '≥' : '≤'} ${withSign(result, rule.target)}`
    return `| ${[row, size, ...shown, `${round(least)} – ${round(most)}`, runs.length, bound, verdict].join(' | ')} |`
  })
  const where = `Measured on ${measuredAt}: ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.platform}, Node ${machine.node}.`
  return [where, '', head, ...lines].join('\n')
}

function withSign({ rule, unit }: Result, value: number): string {
  if (rule.how === 'plus') return `${signed(value)} ${unit}`
  return rule.how === 'times' ? `${round(value)} ×` : `${round(value * 100)} %`
}
