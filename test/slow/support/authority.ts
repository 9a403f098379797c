import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for one address or name, and the authority that signed it; made by `openssl` for one test. */
export type Authority = ReturnType<typeof createAuthority>

export function createAuthority(address: string) {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-tls-'))
  const path = (name: string) => join(dir, name)
  const openssl = (words: string) => execFileSync('openssl', words.split(' '), { cwd: dir, stdio: 'ignore' })
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  try {
    openssl(`req -x509 ${newKey} -keyout ca.key -out ca.pem -days 2 -subj /CN=tests`)
    openssl(`req ${newKey} -keyout server.key -out server.csr -subj /CN=${address}`)
    writeFileSync(path('names'), `subjectAltName=${isIP(address) === 0 ? 'DNS' : 'IP'}:${address}\n`)
    const signing = '-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names'
    openssl(`x509 -req -in server.csr -out server.pem ${signing}`)
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
  return {
    key: readFileSync(path('server.key'), 'utf8'),
    cert: readFileSync(path('server.pem'), 'utf8'),
    /** The authority's own certificate, for NODE_EXTRA_CA_CERTS. */
    file: path('ca.pem'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}
