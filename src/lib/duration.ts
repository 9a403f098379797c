const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy

/** Such as `250ms`, `10s` or `1h30m`. */
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
  const seconds = Math.round(milliseconds / 1_000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3_600), 'h'],
    [Math.floor((seconds % 3_600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  return parts
    .slice(first, first + 2)
    .map(([amount, unit]) => (amount > 0 ? `${amount}${unit}` : ''))
    .join('')
}
