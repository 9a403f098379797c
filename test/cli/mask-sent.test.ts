import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { composeToLook, openSource } from '../../src/cli/compose.ts'
import { readSettings } from '../../src/config/settings.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { keyedHash } from '../../src/lib/digest.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { folderForTest } from '../support/folders.ts'

test('a mounted secret that was sent is masked before its manifest is looked at, and no file beside it', async () => {
  const dir = folderForTest()
  mkdirSync(join(dir, 'kafka'))
  writeFileSync(join(dir, 'kafka', 'password'), 'Pw-Okapi-77')
  writeFileSync(join(dir, 'kafka', 'region'), 'eu-central-1')
  const flags = {
    secretsDir: dir,
    credentialsDir: folderForTest(),
    manifests: folderForTest(),
    baseUrl: 'http://127.0.0.1:9',
  }
  const reading = await readSettings({
    needs: 'local',
    flags,
    env: {},
    readFile: () => Promise.reject(new Error('no file')),
  })
  if (!('settings' in reading)) throw new Error(JSON.stringify(reading))
  const { settings } = reading
  await using stack = new AsyncDisposableStack()
  const { ledger } = openMemoryLedger({ emit: () => undefined })
  stack.use(ledger)
  // Its manifest is gone.
  const secrets = { 'source.kafka.credentials.password': keyedHash(ledger.hashKey, 'Pw-Okapi-77') }
  await ledger.swap({ ...blankRecord('Pipe/gone'), applied: { digest: 'd', fields: {}, secrets } }, [])
  const io = { clock: createFakeClock(), stop: { stopping: new AbortController().signal } }
  const parts = { settings, ledger, source: openSource(settings), accept: 'force' } as const
  const { context } = await composeToLook(io, parts, stack)
  expect(context.mask.mask('Pw-Okapi-77 in eu-central-1')).toBe('[secret] in eu-central-1')
})
