import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import { bodyOf, type Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { asService } from '../kinds/service/kind.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import { makeFolder } from '../ledger/location.ts'
import { Secret } from '../lib/secret.ts'
import { misuse } from './io.ts'
import { readSecretFile, type ReadSecretFile } from '../platform/secret-store.ts'
import { readFixture } from '../sandbox/fixture.ts'
import { createSandbox, type Sandbox } from '../sandbox/sandbox-server.ts'

/** A file in the manifests directory. Pipewright reads no manifests from dot files. */
const FIXTURE_FILE = '.sandbox.yaml'

/**
 * Generates missing secrets, because the sandbox needs no real credentials.
 * @param keeps writes them and the sandbox's state to disk
 */
export async function startEmbeddedSandbox(
  { settings, catalog, keeps }: { settings: Settings; catalog: Catalog; keeps: boolean },
  stack: AsyncDisposableStack,
) {
  const fixtureFile = join(settings.manifests, FIXTURE_FILE)
  const fixture = existsSync(fixtureFile) ? await readFixture(fixtureFile, settings.profile) : undefined
  const home = homeOf(settings.profile)
  if (keeps) await ableToWrite(() => makeFolder(resolve(home)))
  const sandbox = stack.use(
    await createSandbox({
      file: join(home, 'sandbox.db'),
      fileUse: keeps ? 'open' : 'copy',
      profile: settings.profile,
      fixture,
      credentials: [],
      alertTokens: [],
    }),
  )
  const { keys, others } = secretFilesOf(settings, catalog)
  const tokenFile = settings.alertsTokenFile
  const credentialFiles = [...keys.flat(), tokenFile]
  const isFirst = credentialFiles.every((file) => rightIn(sandbox, file) === undefined)
  const missing: ReadonlyMap<string, string> =
    keeps || isFirst ? await missingSecrets(sandbox, { credentialFiles, others }) : new Map()
  if (keeps) for (const [file, content] of missing) await ableToWrite(() => writeSecret(file, content))
  sandbox.setAccess({
    credentials: keys.flatMap(([idFile, secretFile]) => {
      const [keyId, keySecret] = [rightIn(sandbox, idFile), rightIn(sandbox, secretFile)]
      return keyId === undefined || keySecret === undefined ? [] : [{ keyId, keySecret }]
    }),
    alertTokens: [rightIn(sandbox, tokenFile)].filter((token) => token !== undefined),
  })
  return { url: sandbox.url, readSecretFile: keeps ? readSecretFile : readerWith(missing) }
}

/** @returns contents for missing files. The sandbox keeps accepting the first content of a credential file. */
async function missingSecrets(
  sandbox: Sandbox,
  files: { readonly credentialFiles: readonly string[]; readonly others: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>()
  for (const file of files.others) if (await isAbsent(file)) missing.set(file, madeUp())
  for (const file of files.credentialFiles) {
    const reading = await readSecretFile(file)
    sandbox.keepRightSecret(nameInHome(file), reading.found ? reading.value.reveal() : madeUp())
    const right = rightIn(sandbox, file)
    if (right !== undefined && (await isAbsent(file))) missing.set(file, right)
  }
  return missing
}

function rightIn(sandbox: Sandbox, file: string): string | undefined {
  return sandbox.rightSecret(nameInHome(file))
}

/** A relative name, which stays the same if the folder moves. */
function nameInHome(file: string): string {
  return relative(SANDBOX_HOME, file)
}

async function isAbsent(file: string): Promise<boolean> {
  const reading = await readSecretFile(file)
  return !reading.found && reading.why === 'absent'
}

function readerWith(missing: ReadonlyMap<string, string>): ReadSecretFile {
  return async (file) => {
    const content = missing.get(file)
    return content === undefined ? readSecretFile(file) : { found: true, value: new Secret(content) }
  }
}

/** `keys`: for each service, the files of key id and key secret. */
function secretFilesOf({ profile, credentialsDir, secretsDir, adminTokenFile }: Settings, catalog: Catalog) {
  const manifests = [...catalog.entries.values()].flatMap(({ manifest }) => manifest ?? [])
  const keys = manifests.flatMap((manifest) => {
    const name = asService(manifest)?.spec.credentials.secretRef.name
    return name === undefined
      ? []
      : [[join(credentialsDir, name, 'keyId'), join(credentialsDir, name, 'keySecret')] as const]
  })
  const others = manifests.flatMap((manifest) =>
    secretRefsIn(bodyOf(profile, manifest) ?? {}).map(({ ref }) => join(secretsDir, ref.name, ref.key)),
  )
  return { keys, others: adminTokenFile === undefined ? others : [...others, adminTokenFile] }
}

function madeUp(): string {
  return `made-up-${randomBytes(12).toString('hex')}`
}

async function writeSecret(file: string, content: string): Promise<void> {
  makeFolder(dirname(resolve(file)), { mode: 0o700 })
  await writeFile(file, `${content}\n`, { mode: 0o600 })
}

async function ableToWrite(write: () => void | Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    misuse(`The sandbox cannot write its files: ${why}. Run it in another directory, or correct the path.`)
  }
}

function homeOf({ name }: Profile): string {
  return name === DEFAULT.name ? SANDBOX_HOME : join(SANDBOX_HOME, name)
}

const SANDBOX_HOME = '.pipewright'

export function sandboxLedger(profile: Profile): string {
  return join(homeOf(profile), 'sandbox-ledger.db')
}
