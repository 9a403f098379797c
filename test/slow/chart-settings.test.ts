import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SETTINGS } from '../../src/config/settings.ts'
import { CHART, GOOD, HELMS, overlay, renderValues, tryValues } from './support/chart.ts'
import { folderForFile } from '../support/folders.ts'

/* A value that the program would refuse is refused by `helm upgrade`: otherwise it ends a pod that ran. */

const folder = folderForFile()

type Value = string | number | boolean

interface Forms {
  readonly good: readonly Value[]
  /** Of another form, or a number that is out of its limits. */
  readonly bad: readonly Value[]
  /** Durations of the right form that are too short or too long. */
  readonly beyond?: readonly string[]
}

const URLS: Forms = {
  good: [
    'https://pipes.example.com',
    'http://127.0.0.1:8080/',
    'https://[::1]:65535/x',
    'HTTPS://Pipewright:443',
  ],
  bad: [
    'pipes.example.com',
    'htps://x.example',
    'https://',
    'https://x.example?q=1',
    'https://x.example#a',
    'https://me:pw@x.example',
    'https://x.example:65536',
    'https://1.2.3.400',
    'https://x.1',
    'https://x y.example',
    'ftp://x.example',
  ],
}

const COUNT: Forms = { good: [0, 25, 100_000], bad: [-1, 100_001, 2.5, 'all'] }

const DURATION = ['10', '10 m', '5min', 'm5', '-1s', '1.s', '1s,', '∞']

const FORMS: Readonly<Record<string, Forms>> = {
  profile: { good: ['default', 'clickhouse-cloud'], bad: ['clickhouse', 'DEFAULT', ''] },
  server: URLS,
  'public-url': URLS,
  'webhook-url': {
    good: [
      'https://hooks.example/x?key=y',
      'HTTP://hooks.example',
      'file:/etc/pipewright/credentials/hook/url',
    ],
    bad: ['hooks.example/x', 'ftp://hooks.example/x', 'file:', ''],
  },
  'webhook-secret-file': { good: ['/etc/pipewright/credentials/hook/secret'], bad: [''] },
  'repository-url': {
    good: [
      'https://git.example/blob/{revision}/{file}',
      'https://git.example/x/{file}#L{line}',
      'https://git.example/{file}?at={revision}',
    ],
    bad: [
      'https://git.example/x',
      'https://git.example/{fil}/{file}',
      'git.example/{file}',
      'https://me:pw@git.example/{file}',
      'https://git.example/{file}/{',
      'https://git.example:99999/{file}',
      'https://git:example:x/{file}',
    ],
  },
  listen: { good: ['[::]:8080', '0.0.0.0:8080', '127.0.0.1:8080'], bad: ['::', '8080', ':8080', '[::]'] },
  'metrics-listen': { good: ['[::]:9090', '0.0.0.0:9090'], bad: ['9090', '[::9090', 'localhost'] },
  'named-resources': COUNT,
  'max-creates': COUNT,
  concurrency: { good: [1, 8, 256], bad: [0, 257, -1, 1.5, 'many'] },
  interval: {
    good: ['1s', '1m30s', '0.5h', '24h', '86400000ms'],
    bad: DURATION,
    beyond: ['0s', '999ms', '24h1s', '2d'],
  },
  'api-budget': {
    good: ['1/100ms', '50/10s', '100000/1h'],
    bad: ['10', '0/10s', '10/', '/10s', '10/10', '100001/10s', '10/10s/1s', 'ten/1s', '-1/1s'],
    beyond: ['10/99ms', '10/61m'],
  },
  'healthy-states': { good: ['Running', 'Running,OK', 'A b, C'], bad: ['', ',', 'A,,B', 'A,', ' '] },
  'log-level': { good: ['trace', 'warn', 'silent'], bad: ['warning', 'INFO', ''] },
  'log-format': { good: ['json', 'pretty'], bad: ['text', 'JSON'] },
  'allow-insecure-tls': { good: [true, false], bad: ['maybe', 2] },
  'allow-insecure-http': { good: [true, false], bad: ['maybe', 2] },
  'request-timeout': { good: ['100ms', '20s', '0.3m'], bad: DURATION, beyond: ['99ms', '61m'] },
  'shutdown-grace': { good: ['25s', '1m30s', '2h'], bad: DURATION, beyond: ['999ms', '121m'] },
  'lease-duration': { good: ['1s', '30s', '10m'], bad: DURATION, beyond: ['999ms', '11m'] },
}

const Schema = z.looseObject({
  properties: z.looseObject({
    settings: z.looseObject({
      properties: z.record(z.string(), z.looseObject({})),
    }),
  }),
})

const SCHEMA = Schema.parse(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))).properties
  .settings

/** Settings that are values of their own in the chart, and not for the map `settings`. */
const OWNED = Object.keys(SCHEMA.properties).filter((flag) => !Object.hasOwn(FORMS, flag))

function settingOf(flag: string) {
  const found = SETTINGS.find((setting) => setting.flag === flag)
  if (found === undefined) throw new Error(`there is no setting ${flag}`)
  return found
}

/** The nth of the texts of each setting that has so many. */
function round(texts: (forms: Forms) => readonly Value[], index: number): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(FORMS).flatMap(([flag, forms]) => {
      const value = texts(forms)[index]
      return value === undefined ? [] : [[flag, value]]
    }),
  )
}

function rounds(texts: (forms: Forms) => readonly Value[]): readonly Readonly<Record<string, Value>>[] {
  const most = Math.max(...Object.values(FORMS).map((forms) => texts(forms).length))
  return Array.from({ length: most }, (_, index) => round(texts, index))
}

describe('the schema of the chart and the settings of the program', () => {
  test('name the same settings', () => {
    expect(Object.keys(SCHEMA.properties).toSorted()).toEqual(SETTINGS.map(({ flag }) => flag).toSorted())
  })

  test('agree on what is right and what is wrong', () => {
    for (const [flag, { good, bad, beyond = [] }] of Object.entries(FORMS)) {
      const { parse } = settingOf(flag)
      for (const value of good) expect([flag, value, parse(String(value)).ok]).toEqual([flag, value, true])
      for (const value of [...bad, ...beyond]) {
        expect([flag, value, parse(String(value)).ok]).toEqual([flag, value, false])
      }
    }
  })
})

describe.each(HELMS)('%s', (helm) => {
  test('says of each setting that is a value of its own which one', async () => {
    const settings = Object.fromEntries(OWNED.map((flag) => [flag, 'x']))
    const { code, stderr } = await tryValues(folder, { ...GOOD, settings }, { helm })
    expect(code).not.toBe(0)
    for (const flag of OWNED)
      expect(stderr).toContain(`at '/settings/${flag}': value must be 'set by the chart: use `)
  })

  test.each(rounds(({ good }) => good))('accepts %j, each as its own variable', async (settings) => {
    const rendered = await renderValues(folder, { ...GOOD, settings }, { helm })
    for (const [flag, value] of Object.entries(settings)) {
      expect(rendered).toContain(`- name: ${settingOf(flag).env}\n              value: "${value}"\n`)
    }
  })

  test('accepts the defaults', async () => {
    const settings = Object.fromEntries(
      Object.keys(FORMS).flatMap((flag) => {
        const { default: text } = settingOf(flag)
        if (text === undefined) return []
        return [[flag, /^(\d+|true|false)$/.test(text) ? (JSON.parse(text) as Value) : text]]
      }),
    )
    expect(Object.keys(settings).length).toBeGreaterThan(6)
    expect(await tryValues(folder, { ...GOOD, settings }, { helm })).toMatchObject({ code: 0 })
  })

  test.each(rounds(({ bad }) => bad))('refuses each of %j', async (settings) => {
    const { code, stderr } = await tryValues(folder, { ...GOOD, settings }, { helm })
    expect(code).not.toBe(0)
    for (const flag of Object.keys(settings)) expect(stderr).toContain(`at '/settings/${flag}'`)
  })

  test.each(rounds(({ beyond = [] }) => beyond))(
    'refuses each of %j, which is too short or too long',
    async (settings) => {
      const { code, stderr } = await tryValues(folder, { ...GOOD, settings }, { helm })
      expect(code).not.toBe(0)
      for (const flag of Object.keys(settings))
        expect(stderr).toMatch(new RegExp(`- settings\\.${flag}: .+ is not from`))
    },
  )

  test('refuses a name that is none', async () => {
    const { stderr } = await tryValues(folder, { ...GOOD, settings: { intervall: '1m' } }, { helm })
    expect(stderr).toMatch(/at '\/settings'.*'intervall' not allowed/)
  })
})

test.each(
  Array.from({ length: Math.max(URLS.bad.length, DURATION.length) }, (_, index) => ({
    url: String(URLS.bad[index % URLS.bad.length]),
    time: DURATION[index % DURATION.length],
  })),
)('values that become settings have their forms: $url, $time', async ({ url, time }) => {
  const values = { platform: { baseUrl: url, alertsBaseUrl: url }, source: { git: { period: time } } }
  const { code, stderr } = await tryValues(folder, overlay(GOOD, values))
  expect(code).not.toBe(0)
  const places = ['platform/baseUrl', 'platform/alertsBaseUrl', 'source/git/period']
  for (const place of places) expect(stderr).toContain(`at '/${place}'`)
})
