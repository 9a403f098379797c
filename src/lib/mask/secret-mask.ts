declare const masked: unique symbol

/** A text without secrets, fit to leave the process. No decision takes one. */
export type MaskedText = string & { readonly [masked]: true }

/** A text as the platform sent it: decisions take it, and a masked text is none. */
export type RawText = string & { readonly [masked]?: never }

/** Shorter secrets stand inside ordinary words, so that nothing of them is masked. In characters. */
export const MIN_MASKED_LENGTH = 4

/** Masks the secrets of this process in texts that leave it. The work is linear in the text. */
export interface SecretMask {
  /** Masks a secret from now on. Does nothing for a secret that it holds. */
  readonly add: (secret: string) => void
  readonly mask: (text: string) => MaskedText
  /** How many secrets it has encoded so far. */
  readonly encoded: number
}

const MASK = '[secret]'

/** So much of a needle tells it. A longer one masks as much more as the text repeats of it. In characters. */
const HEAD_LENGTH = 64

/** Secrets are held up to this sum of their lengths. Then the half that was added first is dropped. In characters. */
const MAX_HELD = 8 * 1024 * 1024

/** Shorter lines of a secret with several lines stand in other texts, too. In characters. */
const MIN_LINE_LENGTH = 16

interface Needle {
  readonly text: string
  readonly head: string
  /** Whether it is masked only as a whole word, because it reads like one. */
  readonly isWord: boolean
}

export function createSecretMask(secrets: Iterable<string> = []): SecretMask {
  /** In the order in which they were last added. */
  const held = new Set<string>()
  const needles = new Map<number, Needle[]>()
  let heldLength = 0
  let encoded = 0

  function add(secret: string): void {
    if (secret.length < MIN_MASKED_LENGTH) return
    const isHeld = held.delete(secret)
    held.add(secret)
    if (isHeld) return
    heldLength += secret.length
    encode(secret)
    if (heldLength > MAX_HELD) dropOldest()
  }

  function encode(secret: string): void {
    encoded += 1
    for (const needle of needlesOf(secret)) {
      const start = startAt(needle.text, 0)
      const same = needles.get(start)
      if (same === undefined) needles.set(start, [needle])
      else if (same.every(({ text }) => text !== needle.text)) same.push(needle)
    }
  }

  function dropOldest(): void {
    for (const secret of held) {
      if (heldLength <= MAX_HELD / 2 || held.size === 1) break
      held.delete(secret)
      heldLength -= secret.length
    }
    needles.clear()
    for (const secret of held) encode(secret)
  }

  function mask(text: string): MaskedText {
    if (held.size === 0) return text as MaskedText // nothing is to be masked
    let shown = ''
    let from = 0
    let hiddenTo = 0
    for (let at = 0; at + MIN_MASKED_LENGTH <= text.length;) {
      const near = needles.get(startAt(text, at))
      const end = near === undefined ? 0 : endOfMatch(near, text, at)
      if (end > hiddenTo) {
        if (at > hiddenTo || hiddenTo === 0) shown += text.slice(from, at) + MASK
        from = hiddenTo = end
      }
      // Another secret may begin inside of this one.
      at = Math.max(at + 1, end - HEAD_LENGTH)
    }
    return (shown + text.slice(from)) as MaskedText // every secret in it is masked
  }

  for (const secret of secrets) add(secret)
  return {
    add,
    mask,
    get encoded() {
      return encoded
    },
  }
}

/** A number for the four characters at a place. Other characters may have the same. */
function startAt(text: string, at: number): number {
  return (
    text.charCodeAt(at) +
    31 * (text.charCodeAt(at + 1) + 31 * (text.charCodeAt(at + 2) + 31 * text.charCodeAt(at + 3)))
  )
}

/** Where the longest needle that stands at a place ends; 0 if there is none. */
function endOfMatch(needles: readonly Needle[], text: string, at: number): number {
  let end = 0
  for (const needle of needles) {
    if (!text.startsWith(needle.head, at)) continue
    let last = at + needle.head.length
    while (last < text.length && last - at < needle.text.length && text[last] === needle.text[last - at])
      last += 1
    if (last > end && (!needle.isWord || isWholeWord(text, at, last))) end = last
  }
  return end
}

/** The four forms: as it is, as JSON and URLs escape it, and in base64. Each is masked wherever it stands. */
function needlesOf(secret: string): readonly Needle[] {
  const forms = [
    ...linesOf(secret),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    ...base64Of(secret),
  ]
  const others = new Set(forms.filter((form) => form !== secret && form.length >= MIN_MASKED_LENGTH))
  return [needleOf(secret, WORD.test(secret)), ...[...others].map((form) => needleOf(form, false))]
}

function needleOf(text: string, isWord: boolean): Needle {
  return { text, head: text.slice(0, HEAD_LENGTH), isWord }
}

/** The lines of a certificate or a key: others repeat a single line of it. */
function linesOf(secret: string): readonly string[] {
  if (!secret.includes('\n')) return []
  return secret
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'))
}

/** In both alphabets, on its own and behind one or two other bytes: without the characters that neighbours change. */
function base64Of(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8')
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const isAligned = (bytes.length + shift) % 3 === 0
    const own = text.slice(shift === 0 ? 0 : shift + 1, isAligned ? undefined : -1)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A word that people choose. It may stand inside of other words. */
const WORD = /^[a-z]{1,16}\d{0,4}$/i
const LETTER = /[\p{L}\p{N}]/u

function isWholeWord(text: string, from: number, to: number): boolean {
  return !LETTER.test(text[from - 1] ?? '') && !LETTER.test(text[to] ?? '')
}
