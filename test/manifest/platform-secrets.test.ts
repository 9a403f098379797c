import { describe, expect, test } from 'vitest'
import { documents, next, pipe, readingOf, service } from './support.ts'

/** A pipe whose source signs in with `secret`; the reference stands in line 7. */
function pipeWith(secret: string, key = 'password'): string {
  const credentials = `credentials: {username: me, password: {secretRef: {name: ${secret}, key: ${key}}}}`
  return pipe('p').replace('topics: orders', `topics: orders, ${credentials}`)
}

const s = service('analytics') // signs in with the secret "api"

interface Row {
  readonly why: string
  readonly readings: readonly Readonly<Record<string, string>>[]
  /** The places of `platform-secret` in the last reading, as `file:line`. */
  readonly at: readonly string[]
}

const rows: readonly Row[] = [
  { why: 'a secret of its own is fine', readings: [{ 'a.yaml': documents(s, pipeWith('kafka')) }], at: [] },
  {
    why: 'the key of its Service',
    readings: [{ 'a.yaml': documents(s, pipeWith('api')) }],
    at: ['a.yaml:12'],
  },
  {
    why: 'any key of that secret',
    readings: [{ 'a.yaml': documents(s, pipeWith('api', 'keySecret')) }],
    at: ['a.yaml:12'],
  },
  {
    why: 'the key of a Service of which it is none, in a file that is read later',
    readings: [
      { 'a.yaml': documents(s, pipeWith('other')), 'z.yaml': service('z').replace('api}', 'other}') },
    ],
    at: ['a.yaml:12'],
  },
  {
    why: 'a Service with errors elsewhere',
    readings: [{ 'a.yaml': pipeWith('api'), 's.yaml': s.replace('serviceId', 'servicId') }],
    at: ['a.yaml:7'],
  },
  {
    why: 'a Service whose document repeats a field',
    readings: [
      { 'a.yaml': pipeWith('api'), 's.yaml': s.replace('kind:', 'metadata: {name: analytics}\nkind:') },
    ],
    at: ['a.yaml:7'],
  },
  {
    why: 'a Service whose file does not parse now, and did before',
    readings: [
      { 'a.yaml': pipe('p'), 's.yaml': s },
      { 'a.yaml': pipeWith('api'), 's.yaml': 'x: [' },
    ],
    at: ['a.yaml:7'],
  },
  {
    why: 'a Service that was not found just now',
    readings: [
      { 'a.yaml': pipe('p'), 'b.yaml': pipe('b'), 's.yaml': s },
      { 'a.yaml': pipeWith('api'), 'b.yaml': pipe('b') },
    ],
    at: ['a.yaml:7'],
  },
  {
    why: 'what a Service named before it was given another secret is free again',
    readings: [
      { 'a.yaml': pipe('p'), 's.yaml': s },
      { 'a.yaml': pipeWith('api'), 's.yaml': s.replace('api}', 'newer}') },
    ],
    at: [],
  },
  {
    why: 'the token for alerts',
    readings: [{ 'a.yaml': documents(s, pipeWith('alerts', 'token')) }],
    at: ['a.yaml:12'],
  },
  {
    why: 'another key beside the token for alerts',
    readings: [{ 'a.yaml': documents(s, pipeWith('alerts', 'password')) }],
    at: [],
  },
]

describe('a manifest cannot send the credentials of the platform elsewhere', () => {
  test.each(rows)('$why', ({ readings, at }) => {
    let state: ReturnType<typeof next> | undefined
    for (const reading of readings) state = next(state, readingOf(reading))
    const found = state?.catalog.findings.filter(({ code }) => code === 'platform-secret') ?? []
    expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual(at)
    expect(state?.catalog.entries.get('Pipe/p')?.state).toBe(at.length === 0 ? 'valid' : 'invalid')
  })

  test('the name of the secret is what is marked', () => {
    const [finding] = next(undefined, readingOf({ 'a.yaml': documents(s, pipeWith('api')) })).catalog.findings
    const text = documents(s, pipeWith('api')).split('\n')[11] ?? ''
    const { column = 1, endColumn = 1, hint = '' } = finding ?? {}
    expect(text.slice(column - 1, endColumn - 1)).toBe('api')
    expect(hint).toContain('secret of its own')
  })
})
