import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS, readSettings } from '../../src/config/settings.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import { ROOT } from '../support/process.ts'
import { parseGitSyncArgs } from './support/git-sync-imitation.ts'
import { run, runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

/** What `systemd-analyze security` gives from 0 (held tight) to 10; that of an ordinary service is above 9. */
const MOST_EXPOSED = 1.5

const GRACE_MS = parseDuration(SETTINGS.find(({ flag }) => flag === 'shutdown-grace')?.defaultText ?? '') ?? 0

const unit = readFileSync(join(ROOT, 'docs/pipewright.service'), 'utf8')

const folder = folderForFile()

describe('docs/pipewright.service', () => {
  test('is a unit that systemd takes without a word', async () => {
    const file = join(folder, 'pipewright.service')
    writeFileSync(file, unit.replaceAll('/usr/bin/node', process.execPath))
    expect(await run(tool('systemd-analyze'), ['verify', '--man=no', file])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('is held tight', async () => {
    const told = await runWell(tool('systemd-analyze'), [
      'security',
      '--offline=true',
      join(ROOT, 'docs/pipewright.service'),
    ])
    const [, level] = /Overall exposure level for pipewright\.service: ([\d.]+)/.exec(told) ?? []
    expect(Number(level)).toBeGreaterThan(0)
    expect(Number(level)).toBeLessThanOrEqual(MOST_EXPOSED)
  })

  test('gives a create the time to end, and its settings file is one', async () => {
    const [, stop = ''] = /^TimeoutStopSec=(\S+)$/m.exec(unit) ?? []
    expect(parseDuration(stop)).toBeGreaterThanOrEqual(GRACE_MS + 5_000)
    const [, block = ''] = /^# \/etc\/pipewright\/settings\.yaml.*\n((?:# {3}\S.*\n)+)/m.exec(unit) ?? []
    const file = block.replaceAll(/^# {3}/gm, '')
    const reading = await readSettings({
      flags: { config: 'settings.yaml' },
      env: {},
      needs: 'platform',
      readFile: () => Promise.resolve(file),
    })
    expect(reading).toMatchObject({
      settings: { manifests: '/srv/pipes', baseUrl: 'https://api.example.com' },
    })
  })
})

interface ComposeService {
  readonly user: string
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly pids_limit: number
  readonly mem_limit: string
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly stop_grace_period?: string
  readonly ports?: readonly string[]
  readonly volumes: readonly {
    readonly type: string
    readonly source: string
    readonly target: string
    readonly read_only?: boolean
  }[]
}

describe('docs/compose.yaml', () => {
  const { services, volumes } = parse(readFileSync(join(ROOT, 'docs/compose.yaml'), 'utf8'), {
    merge: true,
  }) as {
    services: Readonly<Record<'pipewright' | 'git-sync', ComposeService>>
    volumes: Readonly<Record<string, unknown>>
  } // no compose is at hand that would look at the shape
  const { pipewright, 'git-sync': gitSync } = services

  test.each(Object.entries(services))('%s has no rights, and a read-only root', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: 100,
      user: expect.stringMatching(/^6553[23]:6553[23]$/) as string,
    })
    expect(service.mem_limit).toMatch(/^\d+m$/)
    for (const { type, source } of service.volumes) {
      expect(type === 'volume' ? source in volumes : source.startsWith('./')).toBe(true)
    }
  })

  test('gives a create the time to end, is open to this machine alone, and writes the ledger alone', () => {
    expect(parseDuration(pipewright.stop_grace_period ?? '')).toBeGreaterThanOrEqual(GRACE_MS + 5_000)
    expect(pipewright.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)])
    const writable = pipewright.volumes.filter(({ read_only: readOnly }) => readOnly !== true)
    expect(writable.map(({ source }) => source)).toEqual(['ledger'])
  })

  test('uses settings that are there, and flags of git-sync', async () => {
    const defaults = Object.entries(pipewright.environment).map(([name, text]) => [
      name,
      text.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
    ])
    const env = { ...Object.fromEntries(defaults), PIPEWRIGHT_BASE_URL: 'https://api.example' }
    const reading = await readSettings({
      flags: {},
      env,
      needs: 'platform',
      readFile: () => Promise.reject(new Error('no file')),
    })
    expect(reading).toHaveProperty('settings')
    expect(parseGitSyncArgs(gitSync.command)).toMatchObject({ root: '/git', link: 'current' })
  })
})
