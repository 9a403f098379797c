import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expiredAt, openTls, readTls } from '../../src/platform/tls-files.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* Files of TLS as they come and go while a process runs. */

let made: Workspace
beforeAll(() => {
  made = createWorkspace()
  for (const [name, key] of [
    ['one', EC],
    ['weak', ['rsa:1024']],
  ] as const) {
    const files = ['-keyout', made.path(`${name}.key`), '-out', made.path(`${name}.pem`)]
    const args = ['req', '-x509', '-newkey', ...key, '-nodes', '-days', '2', '-subj', `/CN=${name}`, ...files]
    execFileSync('openssl', args, { stdio: 'ignore' })
  }
})
afterAll(() => made[Symbol.dispose]())

const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] as const

function textOf(file: string): string {
  return readFileSync(made.path(file), 'utf8')
}

test('what could not be used is read again for the next connection, also where it looks the same', async () => {
  using workspace = createWorkspace()
  const file = workspace.path('ca.pem')
  const good = textOf('one.pem')
  workspace.write('ca.pem', good)
  const tls = openTls({ caFile: file, certFile: undefined, keyFile: undefined })
  const first = await tls.current()
  // As a file that may not be read for a while: what is known of it does not change when it may.
  workspace.write('ca.pem', '-'.repeat(good.length + 1))
  utimesSync(file, 1_000, 1_000)
  expect(await tls.current()).toBe(first)
  const { ino } = statSync(file)
  writeFileSync(file, `${good}\n`)
  utimesSync(file, 1_000, 1_000)
  expect(statSync(file).ino).toBe(ino)
  const second = await tls.current()
  expect(second).not.toBe(first)
  expect(await tls.current()).toBe(second)
})

test('a certificate that TLS does not take is a file that cannot be used', async () => {
  const files = { caFile: undefined, certFile: made.path('weak.pem'), keyFile: made.path('weak.key') }
  await expect(readTls(files)).rejects.toMatchObject({
    name: 'TlsFileError',
    file: 'certFile',
    message: expect.stringContaining('TLS cannot use it (ERR_SSL_') as unknown,
  })
})

test('a certificate that has ended is known by its date', async () => {
  const files = { caFile: undefined, certFile: made.path('one.pem'), keyFile: undefined }
  const end = new X509Certificate(textOf('one.pem')).validToDate
  expect(await expiredAt(files, end.getTime())).toBeUndefined()
  expect(await expiredAt(files, end.getTime() + 1)).toEqual(end)
})
