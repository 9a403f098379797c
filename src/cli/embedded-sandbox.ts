import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import { bodyOf } from '../kinds/lookup.ts'
import { asService } from '../kinds/service/kind.ts'
import { type SecretRef, secretRefsIn } from '../kinds/secret-ref.ts'
import { makeFolder } from '../ledger/location.ts'
import { readSecretFile } from '../platform/secret-store.ts'
import type { SecretStore } from '../contract/secrets.ts'
import { readFixture } from '../sandbox/fixture.ts'
import { createSandbox, type Sandbox } from '../sandbox/sandbox-server.ts'

/** The fixture beside the manifests: what is there before anybody asks. Readings of manifests skip dot files. */
const FIXTURE_FILE = '.sandbox.yaml'

/**
 * Starts the embedded platform for `--sandbox`, with made-up secrets for every reference that has none yet.
 * Nothing outside this machine is reached, and nothing here is a credential of anything.
 */
export async function startEmbeddedSandbox(
  settings: Settings,
  secrets: SecretStore,
  catalog: Catalog,
): Promise<Sandbox> {
  const refs = secretRefsOf(catalog)
  for (const ref of refs) await makeUp(settings.secretsDir, secrets, ref)
  await makeUpFile(settings.alertsTokenFile)
  if (settings.adminTokenFile !== undefined) await makeUpFile(settings.adminTokenFile)
  const fixtureFile = join(settings.manifests, FIXTURE_FILE)
  const fixture = existsSync(fixtureFile) ? await readFixture(fixtureFile) : undefined
  makeFolder(resolve(SANDBOX_HOME))
  const sandbox = await createSandbox({
    file: join(SANDBOX_HOME, 'sandbox.db'),
    fixture,
    credentials: [],
    alertTokens: [],
  })
  await grantAccess(sandbox, settings, secrets, catalog)
  return sandbox
}

/** Lets the sandbox accept the credentials that are mounted now. */
async function grantAccess(
  sandbox: Sandbox,
  settings: Settings,
  secrets: SecretStore,
  catalog: Catalog,
): Promise<void> {
  const credentials = []
  for (const { manifest } of catalog.entries.values()) {
    const service = asService(manifest)
    if (service === undefined) continue
    const { name } = service.spec.credentials.secretRef
    const keyId = await secrets.read({ name, key: 'keyId' })
    const keySecret = await secrets.read({ name, key: 'keySecret' })
    if (!keyId.found || !keySecret.found) continue
    credentials.push({ keyId: keyId.value.reveal(), keySecret: keySecret.value.reveal() })
  }
  const token = await readSecretFile(settings.alertsTokenFile)
  sandbox.setAccess({ credentials, alertTokens: token.found ? [token.value.reveal()] : [] })
}

function secretRefsOf(catalog: Catalog): readonly SecretRef['secretRef'][] {
  return [...catalog.entries.values()].flatMap(({ manifest }) => {
    if (manifest === undefined) return []
    const service = asService(manifest)
    if (service !== undefined) {
      const { name } = service.spec.credentials.secretRef
      return [
        { name, key: 'keyId' },
        { name, key: 'keySecret' },
      ]
    }
    const body = bodyOf(manifest)
    return body === undefined ? [] : secretRefsIn(body).map(({ ref }) => ref)
  })
}

async function makeUp(dir: string, secrets: SecretStore, ref: SecretRef['secretRef']): Promise<void> {
  const reading = await secrets.read(ref)
  if (!reading.found && reading.why === 'absent') await makeUpFile(join(dir, ref.name, ref.key))
}

async function makeUpFile(file: string): Promise<void> {
  if (existsSync(file)) return
  makeFolder(dirname(resolve(file)), { mode: 0o700 })
  await writeFile(file, `made-up-${randomBytes(12).toString('hex')}\n`, { mode: 0o600 })
}

/** Where a sandbox run keeps its ledger, its data and its made-up secrets. */
export const SANDBOX_HOME = '.pipewright'

/** The ledger of a sandbox run, unless another is named. */
export const SANDBOX_LEDGER = join(SANDBOX_HOME, 'sandbox-ledger.db')
