const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:(Z)|([+-]\d\d):?(\d\d)?)?)?$/i

/**
 * The instant of an ISO 8601 text, in milliseconds since the epoch; a text without a zone is UTC, whatever the
 * machine's zone. Finer parts of a second are cut off. `undefined` when it is not such a text.
 */
export function instantOf(text: string): number | undefined {
  const parts = DATE_TIME.exec(text.trim())
  if (parts === null) return undefined
  const [, date, time = '00:00', , hours, minutes = '00'] = parts
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`
  const instant = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(instant) ? undefined : instant
}

/** Whether a date-time without a zone names a day and a time that exist. */
export function isRealDateTime(text: string): boolean {
  const instant = instantOf(text)
  // Date.parse takes the 31st of February for the 3rd of March
  return instant !== undefined && new Date(instant).toISOString().startsWith(text.slice(0, 16))
}

/** An instant as people read it: UTC, to the second. @param ms since the epoch */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
