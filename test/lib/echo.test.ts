import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { echoMask, mask } from '../../src/lib/echo.ts'
import { cpuMsOf } from '../support/cpu.ts'

const SECRET = 'Hq7/kV2+xe"9 Lm4'

const bytes = Buffer.from(SECRET)
const withLines = (text: string) => text.replaceAll(/.{5}/g, '$&\n ')

test.each([
  ['as it is', SECRET],
  ['in upper case', SECRET.toUpperCase()],
  ['in lower case', SECRET.toLowerCase()],
  ['backwards', Array.from(SECRET).toReversed().join('')],
  ['in JSON', JSON.stringify(SECRET)],
  ['in JSON inside JSON', JSON.stringify(JSON.stringify(SECRET))],
  ['in JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
  [
    'as escapes of JSON',
    Array.from(SECRET)
      .map((one) => `\\u00${one.charCodeAt(0).toString(16)}`)
      .join(''),
  ],
  ['in a URL', encodeURIComponent(SECRET)],
  ['in a URL, in lower case', encodeURIComponent(SECRET).toLowerCase()],
  ['with each byte as in a URL', bytes.toString('hex').replaceAll(/../g, '%$&')],
  ['in a URL inside a URL', encodeURIComponent(encodeURIComponent(encodeURIComponent(SECRET)))],
  ['in a URL, with every sign that may be encoded', encodeURIComponent(SECRET).replaceAll('x', '%78')],
  ['as numbers of HTML', Array.from(SECRET, (one) => `&#${one.charCodeAt(0)};`).join('')],
  [
    'as hexadecimal numbers of HTML',
    Array.from(SECRET, (one) => `&#x${one.charCodeAt(0).toString(16)};`).join(''),
  ],
  [
    'in JSON as Go writes it',
    JSON.stringify(SECRET)
      .replaceAll('+', String.raw`\u002b`)
      .replaceAll('"', String.raw`\u0022`),
  ],
  ['in JSON with line breaks in it', JSON.stringify(withLines(SECRET))],
  ['in base64 of base64', Buffer.from(Buffer.from(`user:${SECRET}`).toString('base64')).toString('base64')],
  ['in base64 of a URL', Buffer.from(encodeURIComponent(SECRET)).toString('base64')],
  ['in base64 of JSON', Buffer.from(JSON.stringify({ [SECRET]: 1 })).toString('base64')],
  ['in base64 in a URL', encodeURIComponent(Buffer.from(`${SECRET}?`).toString('base64'))],
  ['in hex with colons', bytes.toString('hex').replaceAll(/..(?!$)/g, '$&:')],
  ['in hex with spaces', bytes.toString('hex').replaceAll(/..(?!$)/g, '$& ')],
  ['as escapes of bytes', bytes.toString('hex').replaceAll(/../g, String.raw`\x$&`)],
  ['with what cannot be seen in it', Array.from(SECRET).join('\u200b')],
  ['in HTML', SECRET.replaceAll('"', '&quot;')],
  ['in base64', bytes.toString('base64')],
  ['in base64 without padding', bytes.toString('base64').replace(/=+$/, '')],
  ['in base64url', bytes.toString('base64url')],
  ['in base64 of more', Buffer.from(`user:${SECRET}`).toString('base64')],
  ['in base64 of more, one later', Buffer.from(`users:${SECRET}!`).toString('base64')],
  ['in base64 of more, two later', Buffer.from(`a-user:${SECRET}!!`).toString('base64url')],
  ['in hex', bytes.toString('hex')],
  ['in upper hex', bytes.toString('hex').toUpperCase()],
  ['in two bytes a letter', Array.from(SECRET).join('\0')],
  ['with line breaks', withLines(SECRET)],
  ['in base64 with line breaks', withLines(bytes.toString('base64'))],
])('a secret is masked %s', (_how, echo) => {
  const shown = mask(`before ${echo} after`, [SECRET])
  // what belongs to the secret's neighbours in base64 may stay
  expect(shown).toMatch(/^before \S{0,10}\[secret\]\S{0,6} after$/s)
})

test.each([
  ['a short secret as a word', 'user bob failed', ['bob'], 'user [secret] failed'],
  ['not inside a word', 'bobbin failed', ['bob'], 'bobbin failed'],
  [
    'a plain one as a word',
    'the administrator, Admin and admin',
    ['admin'],
    'the administrator, [secret] and [secret]',
  ],
  ['a plain one not inside a word', 'operators, operator!', ['operator'], 'operators, [secret]!'],
  [
    'of a name, never a part of a word',
    'administrators, administrator!',
    [{ wholeWord: 'administrator' }],
    'administrators, [secret]!',
  ],
  ['a long one of letters, with line breaks', 'xqzkvbnw\nwplmdrtf!', ['qzkvbnwwplmdrtfh'], 'x[secret]!'],
  ['cut off by the end, with dots', 'bad hunt…', ['hunter2-correct-horse'], 'bad [secret]…'],
  ['a plain one inside a pair in base64', 'got dXNlcjpTb21tZXIyMDI0', ['Sommer2024'], 'got dXNlcj[secret]'],
  ['a short one that nobody would write anywhere', 'ax9$Kq2b', ['x9$Kq2'], 'a[secret]b'],
  ['a short one in base64', 'got Ym9i', ['bob'], 'got [secret]'],
  [
    'a name as a word',
    'svc-orders-01, svc-orders-011',
    [{ wholeWord: 'svc-orders-01' }],
    '[secret], svc-orders-011',
  ],
  ['a part', 'bad correct-hor…', ['hunter2-correct-horse'], 'bad [secret]…'],
  ['cut off by the end', 'bad hunt', ['hunter2-correct-horse'], 'bad [secret]'],
  [
    'a URL does not mask all URLs',
    'see https://docs.example',
    ['https://k9:s7d6@in-f4'],
    'see https://docs.example',
  ],
  [
    'a certificate does not mask the word',
    'caCertificate: no BEGIN CERTIFICATE in it',
    ['-----BEGIN CERTIFICATE-----\nMIIB9zCCAZ2gAwIB\n-----END CERTIFICATE-----'],
    'caCertificate: no BEGIN CERTIFICATE in it',
  ],
  ['its lines', 'got MIIB9zCCAZ2g', ['-----BEGIN CERTIFICATE-----\nMIIB9zCCAZ2gAwIB\n'], 'got [secret]'],
  ['letters that have another length in lower case', 'İİ hunter2-horse', ['hunter2-horse'], 'İİ [secret]'],
  ['nothing of an empty one', 'nothing', [''], 'nothing'],
])('what is masked: %s', (_why, text, secrets, shown) => {
  expect(mask(text, secrets)).toBe(shown)
})

test('no eight characters of a secret are left, whatever surrounds it and however it is cut', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ minLength: 8, maxLength: 40 }),
      fc.nat(40),
      (before, secret, end) => {
        fc.pre(!/^[a-z]{1,16}\d{0,4}$/i.test(secret) && secret.replaceAll(/[\p{C}\s\\]/gu, '').length >= 8)
        const shown = mask(`${before}${secret}`.slice(0, before.length + end), [secret])
        for (let at = 0; at + 8 <= secret.length; at += 1) {
          const part = secret.slice(at, at + 8)
          expect('[secret][secret]'.includes(part) || !shown.includes(part)).toBe(true)
        }
      },
    ),
  )
})

test('the cost grows with the text and with the secrets, not with their product', () => {
  const secrets = Array.from({ length: 60 }, (_, at) => `k${at}-${'Hq7kV2xe9Lm4'.repeat(20)}${at}`)
  const few = echoMask(secrets.slice(0, 2))
  const many = echoMask(secrets)
  const texts = Array.from({ length: 40 }, (_, at) => `${at} ${'x9Kq2 m4Lp7 '.repeat(1_000)}`)
  const floor = cpuMsOf(() => texts.map(few)) + 50
  expect(cpuMsOf(() => texts.map(many))).toBeLessThan(6 * floor)
})

test('of a text of megabytes the beginning is looked at, and the rest is not shown', () => {
  const shown = mask(`${'ab '.repeat(1_000_000)}Hq7kV2xe9Lm4`, ['Hq7kV2xe9Lm4'])
  expect(shown.length).toBeLessThan(20_000)
  expect(shown.endsWith('…')).toBe(true)
})

test('masking ends for a secret of any length up to four characters', () => {
  for (const secret of ['', 'p', 'pw', 'pwd', 'pass', 'é', '✓', '=', '\\', ' '])
    for (const text of ['', 'p', 'MergeTree()', 'State [p] of "orders"', secret.repeat(3)])
      expect(typeof mask(text, [secret])).toBe('string')
})
