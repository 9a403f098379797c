import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { anyText } from '../support/any-text.ts'

const SECRET = 'Hq7/kV2+xe"9 Lm4é'
const BYTES = Buffer.from(SECRET)
const PEM = `-----BEGIN CERTIFICATE-----\n${'MIIDxTCCAq2gAwIBAgIB'.repeat(3)}\n${'Zr5tB8wn3Pc6Qv1x'.repeat(4)}\n-----END CERTIFICATE-----`

const ACCOUNT = JSON.stringify({
  type: 'service_account',
  private_key: PEM,
  nested: { token: 'tok-4711-planted' },
})

test.each([
  ['JSON', ACCOUNT],
  ['JSON in base64', Buffer.from(ACCOUNT).toString('base64')],
  [
    'pretty JSON in base64',
    Buffer.from(JSON.stringify(JSON.parse(ACCOUNT), undefined, 2)).toString('base64'),
  ],
])('the secrets in a secret that is %s are masked, and its other texts are not', (_, secret) => {
  const { mask } = createSecretMask([secret])
  const [, line = ''] = PEM.split('\n')
  const shown = mask(`no key ${line}, no token tok-4711-planted of service_account`)
  expect(shown).toBe('no key [secret], no token [secret] of service_account')
})

test.each(['{', '{}', '{"private_key": 1}', 'e30=', '{"private_key": ""}'])(
  '%j has no secret inside',
  (secret) => {
    expect(createSecretMask([secret]).mask('private_key 1')).toBe('private_key 1')
  },
)

describe('a secret is masked', () => {
  test.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in JSON of Python', String.raw`Hq7/kV2+xe\"9 Lm4\u00e9`],
    ['in JSON of PHP', String.raw`Hq7\/kV2+xe\"9 Lm4\u00e9`],
    ['in JSON of .NET', String.raw`Hq7/kV2\u002Bxe\u00229 Lm4\u00E9`],
    ['in HTML', SECRET.replace('"', '&quot;')],
    ['in HTML of Go', SECRET.replace('"', '&#34;')],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in base64', BYTES.toString('base64')],
    ['in base64url', BYTES.toString('base64url')],
    ['twice in a row', SECRET + SECRET],
  ])('%s', (_why, form) => {
    expect(createSecretMask([SECRET]).mask(`sent "${form}".`)).toMatch(/^sent "\[secret\]=?"\.$/)
  })

  test.each([0, 1, 2, 3, 4, 5])('in base64 of a text in which it stands behind %i bytes', (before) => {
    for (const secret of [SECRET, 'k7#Q']) {
      const text = Buffer.from(`${'x'.repeat(before)}${secret} and more`).toString('base64')
      expect(createSecretMask([secret]).mask(text)).toContain('[secret]')
    }
  })

  test('in JSON of Go, which escapes HTML', () => {
    const { mask } = createSecretMask(['Tr0ub&dor<3>'])
    expect(mask(String.raw`"Tr0ub\u0026dor\u003c3\u003e"`)).toBe('"[secret]"')
  })

  test('by each of its lines, if it has several', () => {
    const [, line = ''] = PEM.split('\n')
    expect(createSecretMask([PEM]).mask(`bad line ${line} in -----BEGIN CERTIFICATE-----`)).toBe(
      'bad line [secret] in -----BEGIN CERTIFICATE-----',
    )
  })

  test('as far as a text repeats a long one', () => {
    const long = 'Zr5tB8wn3Pc6Qv1x'.repeat(4_096)
    expect(createSecretMask([long]).mask(`<${long.slice(0, 999)}>`)).toBe('<[secret]>')
  })

  test.each([
    ['<Zr5tB8wn3Pc6Qv1xZr5…', '<[secret]…'],
    ['<Zr5tB8wn3Pc6Qv1xZr5>', '<[secret]>'],
    ['<Zr5tB8wn3Pc6Qv1>', '<Zr5tB8wn3Pc6Qv1>'],
  ])('as far as a text repeats at least 16 characters, or ends inside: %s', (text, shown) => {
    expect(createSecretMask(['Zr5tB8wn3Pc6Qv1xZr5tB8wn3Pc6Qv1x']).mask(text)).toBe(shown)
  })

  test('as far as a text repeats the short one of two that begin alike', () => {
    const text = Array.from({ length: 50 }, (_, at) => String.fromCharCode(33 + at)).join('')
    const { mask } = createSecretMask([`${text.slice(0, 40)}~short`, `${text}${'~long'.repeat(9)}`])
    expect(mask(text.slice(0, 45))).toBe(`[secret]${text.slice(40, 45)}`)
  })

  test('as far as a text repeats it, also if it goes on as a word does that begins alike', () => {
    const { mask } = createSecretMask(['abcdefghijklmnop1234', 'abcdefghijklmnop1~other'])
    expect(mask('<abcdefghijklmnop12x>')).toBe('<[secret]2x>')
  })

  test('as a word that was cut for display', () => {
    expect(createSecretMask(['Sommer2024']).mask('is Sommer202…')).toBe('is [secret]…')
    expect(createSecretMask(['KeySecret-Zebra99']).mask('is KeySecret-Zebr…')).toBe('is [secret]…')
  })

  test.each(['%21pw%27s%28%2A%29', '%21pw%27s%28%2a%29'])('in a URL that encodes all: %s', (written) => {
    expect(createSecretMask(["!pw's(*)"]).mask(`<${written}>`)).toBe('<[secret]>')
  })

  test.each(['q\u{9}pass-word-123!', 'a%2bb%2fc%20d', 'a%2Bb%2Fc+d'])('as it is written in %s', (written) => {
    const shown = createSecretMask(['q\tpass-word-123!', 'a+b/c d']).mask(
      `<${written.replace('\u{9}', '\\u{9}')}>`,
    )
    expect(shown).toBe('<[secret]>')
  })

  test('beside many others whose heads have the same hash', () => {
    const others = Array.from({ length: 17 }, (_, index) => `AaBB-${index}`)
    expect(createSecretMask(['BBAa-own', ...others]).mask('BBAa-own AaBB-7')).toBe('[secret] [secret]')
  })

  test('by the longest of many lines that share a head', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `customer_events_${index}`)
    const { mask } = createSecretMask([lines.join('\n')])
    expect(mask('x customer_events_'.repeat(5_000))).not.toContain('events')
    expect(mask(`a ${lines[2_999]} b`)).toBe('a [secret] b')
  })

  test('where two of them overlap', () => {
    expect(createSecretMask(['abcd-efgh', 'efgh-ijkl']).mask('<abcd-efgh-ijkl>')).toBe('<[secret]>')
  })

  test.each([
    ['the domain of main', 'the domain of [secret]'],
    ['main', '[secret]'],
    ['mains', 'mains'],
  ])('as a word, if it reads like one: %s', (text, shown) => {
    expect(createSecretMask(['main']).mask(text)).toBe(shown)
  })
})

test.each(['', 'p', 'pw', 'pwd', '=', '\\', ' ', '✓', '\n\n\n'])(
  '%j is too short to be masked, and the masking ends',
  (secret) => {
    const forms = [encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret)]
    for (const text of ['', 'p', 'MergeTree()', 'State [p] of "orders"', secret.repeat(9), ...forms])
      expect(createSecretMask([secret]).mask(text)).toBe(text)
  },
)

/** Of a word only the whole word is masked; the mask itself holds no secret. */
function isMasked(secret: string): boolean {
  return secret.length >= 4 && !/^[a-z]{1,16}\d{0,4}$/i.test(secret) && !'[secret][secret]'.includes(secret)
}

test('of any secrets and any text, the masking ends and shows none of them', () => {
  fc.assert(
    fc.property(
      fc.array(anyText(9), { maxLength: 5 }),
      fc.array(fc.oneof(fc.nat(4), anyText(9)), { maxLength: 9 }),
      (secrets, parts) => {
        const text = parts.map((part) => (typeof part === 'number' ? (secrets[part] ?? '') : part)).join('')
        const shown = createSecretMask(secrets).mask(text).replaceAll('[secret]', '\u0000')
        return !secrets.some((secret) => isMasked(secret) && shown.includes(secret))
      },
    ),
    { numRuns: 100 },
  )
  expect(isMasked('Hq7k')).toBe(true)
})

test('a secret is encoded once, however often it is read, and again only if it was dropped', () => {
  const secrets = Array.from({ length: 10 }, (_, at) => `${at}${'Hq7kV2xe9Lm4Zr5t'.repeat(4_096)}`)
  const mask = createSecretMask()
  using encode = vi.spyOn(JSON, 'stringify')
  for (let reading = 0; reading < 100; reading += 1) for (const secret of secrets) mask.add(secret)
  expect(encode).toHaveBeenCalledTimes(10)
})

/** 64 of them fill the room. */
function largeSecret(at: number): string {
  return `${at}-${'Hq7kV2xe9Lm4Zr5t'.repeat(4_096)}`.slice(0, 65_536)
}

test('of more secrets than there is room for, the last ones are masked', () => {
  const mask = createSecretMask()
  const areMasked = (...all: readonly number[]) => all.map((at) => mask.mask(largeSecret(at)) === '[secret]')
  for (let at = 0; at < 64; at += 1) mask.add(largeSecret(at))
  expect(areMasked(0, 63)).toEqual([true, true])
  mask.add(largeSecret(0))
  mask.add(largeSecret(64))
  expect(areMasked(0, 1, 33, 34, 64)).toEqual([true, false, false, true, true])
})

/** How often a search of the text reads one of its characters or compares a part of it. */
function readsOf(secrets: readonly string[], text: string): number {
  const { mask } = createSecretMask(secrets)
  let reads = 0
  const counted: ProxyHandler<object> = {
    get(target, name) {
      reads += 1
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  }
  mask(new Proxy(new String(text), counted) as unknown as string) // it is read like one
  return reads
}

const PARTS = Array.from({ length: 16 }, (_, at) => String.fromCharCode(65 + at))
const HASHED_ALIKE = Array.from({ length: 256 }, (_, at) =>
  at.toString(2).padStart(8, '0').replaceAll('0', 'Aa').replaceAll('1', 'BB'),
)

test.each([
  ['ordinary secrets', (at: number) => `k${at}-${'Hq7kV2xe9Lm4'.repeat(20)}${at}`, 'x9Kq2 m4Lp7 '],
  ['secrets that begin alike', (at: number) => `${'a'.repeat(30)}${at}`, 'aaaaaaaaaaaa'],
  ['secrets of one letter', (at: number) => `${'a'.repeat(1_000 * (at + 1))}b`, 'aaaaaaaaaaaa'],
  ['beginnings of large secrets', (at: number) => `${'a'.repeat(65_000)}b${at}`, `${'a'.repeat(64)}c`],
  ['beginnings of short secrets', (at: number) => `${'a'.repeat(14)}${PARTS[at]}`, 'aaaaaaaaaaaaaaaab'],
  ['secrets that differ at their ends', (at: number) => `${'a'.repeat(62)}${PARTS[at]}`, 'aaaaaaaaaaaa'],
  ['lines of equal hashes', (at: number) => HASHED_ALIKE.slice(16 * at, 16 * at + 16).join('\n'), 'AaAaBBBB'],
])('each character of a text is read a few times, however it repeats %s', (_why, secretOf, piece) => {
  const secrets = Array.from({ length: 16 }, (_, at) => secretOf(at))
  const text = piece.repeat(200)
  const reads = readsOf(secrets, text)
  expect(reads).toBeLessThan(150 * text.length)
})
