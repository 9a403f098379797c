const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:(Z)|([+-]\d\d):?(\d\d)?)?)?$/i

/** Parses ISO 8601 into ms since the epoch. No zone means UTC. Undefined: the text has another form. */
export function instantOf(text: string): number | undefined {
  const parts = DATE_TIME.exec(text.trim())
  if (parts === null) return undefined
  const [, date, time = '00:00', , hours, minutes = '00'] = parts
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`
  const instant = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(instant) ? undefined : instant
}

export function isRealDateTime(text: string): boolean {
  const instant = instantOf(text)
  // Refuses February 31, which Date.parse turns into March 3.
  return instant !== undefined && new Date(instant).toISOString().startsWith(text.slice(0, 16))
}

/** A time in UTC, to the second. @param ms since the epoch */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
