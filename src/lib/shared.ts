/** What many say alike, once. */
const common = new Map<string, unknown>()
const MOST = 10_000
/** Characters of JSON: what is longer is seldom said twice. */
const LONGEST = 400

const texts = new Map<string, string>()

/** The same for texts. */
export function sharedText(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= MOST) texts.clear()
  texts.set(text, text)
  return text
}

/** One value for all that have the same JSON; nobody may write to it. It saves room, and changes nothing else. */
export function shared<T>(value: T): T {
  if (value === undefined) return value
  const text = JSON.stringify(value)
  if (text.length > LONGEST) return value
  const known = common.get(text)
  if (known !== undefined) return known as T // it has the same JSON
  if (common.size >= MOST) common.clear()
  common.set(text, value)
  return value
}
