import { type Result, round } from './report.ts'

/* Cost against number, both in powers of ten, as SVG: what was measured as a line, its floor as a broken one. */

const ROWS: Readonly<Record<string, { readonly label: string; readonly colour: string }>> = {
  load: { label: 'read and validate all', colour: '#b5541c' },
  pass: { label: 'full pass', colour: '#2f6f9f' },
  reload: { label: 'read again, one changed', colour: '#5a8f3c' },
  change: { label: 'edit → request, p99', colour: '#7a4b9d' },
}

const WIDTH = 720
const HEIGHT = 420
const LEFT = 80
const RIGHT = 200
const TOP = 30
const BOTTOM = 50

export function plot(results: readonly Result[]): string {
  const shown = results.filter(({ row }) => row in ROWS)
  const values = shown.flatMap(({ floor, subject }) => [floor, subject]).filter((value) => value > 0)
  const sizes = [...new Set(shown.map(({ size }) => size))].toSorted((a, b) => a - b)
  const across = scale([Math.min(...sizes), Math.max(...sizes)], [LEFT, WIDTH - RIGHT])
  const least = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const most = 10 ** Math.ceil(Math.log10(Math.max(...values)))
  const up = scale([least, most], [HEIGHT - BOTTOM, TOP])

  const lines = Object.entries(ROWS).flatMap(([name, { label, colour }]) => {
    const points = shown.filter(({ row }) => row === name).toSorted((a, b) => a.size - b.size)
    const last = points.at(-1)
    if (last === undefined) return []
    const path = (of: (result: Result) => number) =>
      points.map((point) => `${at(across(point.size))},${at(up(of(point)))}`).join(' ')
    return [
      `<polyline points="${path(({ floor }) => floor)}" fill="none" stroke="${colour}" stroke-width="1.5" stroke-dasharray="5 4"/>`,
      `<polyline points="${path(({ subject }) => subject)}" fill="none" stroke="${colour}" stroke-width="2.5"/>`,
      ...points.map(
        (point) =>
          `<circle cx="${at(across(point.size))}" cy="${at(up(point.subject))}" r="3.5" fill="${colour}"><title>${label}, ${point.size}: ${round(point.subject)} ms</title></circle>`,
      ),
      `<text x="${WIDTH - RIGHT + 12}" y="${at(up(last.subject) + 4)}" fill="${colour}">${label}</text>`,
    ]
  })
  const verticals = sizes.map((size) => {
    const x = at(across(size))
    return `<line x1="${x}" y1="${TOP}" x2="${x}" y2="${HEIGHT - BOTTOM}" stroke="#8888" stroke-width="0.5"/><text x="${x}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${size}</text>`
  })
  const horizontals = decades(least, most).map((value) => {
    const y = at(up(value))
    return `<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="#8888" stroke-width="0.5"/><text x="${LEFT - 8}" y="${at(up(value) + 4)}" text-anchor="end">${value} ms</text>`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#555" role="img" aria-label="Cost against number of manifests">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...verticals,
    ...horizontals,
    ...lines,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">manifests</text>`,
    `<text x="${LEFT}" y="18">line: measured · broken line: its floor in the same run</text>`,
    '</svg>',
  ].join('\n')}\n`
}

/** From a range of values, by their logarithms, to a range of places. */
function scale([from, to]: readonly [number, number], [start, end]: readonly [number, number]) {
  const span = Math.log(to) - Math.log(from)
  return (value: number) =>
    span === 0 ? start : start + ((Math.log(value) - Math.log(from)) / span) * (end - start)
}

function decades(least: number, most: number): readonly number[] {
  const count = Math.round(Math.log10(most / least))
  return Array.from({ length: count + 1 }, (_, n) => Number((least * 10 ** n).toPrecision(1)))
}

function at(place: number): string {
  return place.toFixed(1)
}
