const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy

/** @returns ms of a text such as `1h30m`, or undefined */
export function parseDuration(text: string): number | undefined {
  let total = 0
  let end = 0
  for (const part of text.matchAll(PART)) {
    total += Number(part[1]) * UNITS[part[2] as keyof typeof UNITS] // the pattern names only these units
    end = part.index + part[0].length
  }
  return end === text.length && end > 0 ? Math.round(total) : undefined
}

/** At most two units: `850ms`, `12s`, `4m10s`, `2h5m`, `3d4h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)}ms`
  let left = Math.round(milliseconds / 1_000) * 1_000
  const parts = (['d', 'h', 'm', 's'] as const).map((unit) => {
    const amount = Math.floor(left / UNITS[unit])
    left -= amount * UNITS[unit]
    return amount > 0 ? `${amount}${unit}` : ''
  })
  const first = parts.findIndex((part) => part !== '')
  return parts.slice(first, first + 2).join('')
}
