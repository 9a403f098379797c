import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import { bodyOf, type Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { asService } from '../kinds/service/kind.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import { makeFolder } from '../ledger/location.ts'
import { isBelow } from '../lib/below.ts'
import { Secret } from '../lib/secret.ts'
import { readSecretFile, type ReadSecretFile } from '../platform/secret-store.ts'
import { readFixture } from '../sandbox/fixture.ts'
import { createSandbox, type Sandbox } from '../sandbox/sandbox-server.ts'

/** The fixture beside the manifests: what is there before anybody asks. Readings of manifests skip dot files. */
const FIXTURE_FILE = '.sandbox.yaml'

/** `keep`: for those who act, who make the files of the sandbox. `look`: for those who only look, who write none. */
export type SandboxUse = 'keep' | 'look'

export interface EmbeddedSandbox {
  readonly url: string
  /** As from the disk; for a look before the first start, with what that start would make up. */
  readonly readSecretFile: ReadSecretFile
}

/**
 * Starts the embedded platform for `--sandbox`, with made-up secrets for every reference that has none yet.
 * Nothing outside this machine is reached, and nothing here is a credential of anything.
 */
export async function startEmbeddedSandbox(
  { settings, catalog, use }: { settings: Settings; catalog: Catalog; use: SandboxUse },
  stack: AsyncDisposableStack,
): Promise<EmbeddedSandbox> {
  const fixtureFile = join(settings.manifests, FIXTURE_FILE)
  const fixture = existsSync(fixtureFile) ? await readFixture(fixtureFile, settings.profile) : undefined
  const home = homeOf(settings.profile)
  if (use === 'keep') makeFolder(resolve(home))
  const sandbox = stack.use(
    await createSandbox({
      file: join(home, 'sandbox.db'),
      fileUse: use === 'keep' ? 'open' : 'copy',
      profile: settings.profile,
      fixture,
      credentials: [],
      alertTokens: [],
    }),
  )
  const { keys, others } = secretFilesOf(settings, catalog)
  const tokenFile = settings.alertsTokenFile
  const credentialFiles = [...keys.flat(), tokenFile]
  const moved = await credentialsOfBefore(sandbox, settings, { credentialFiles, use })
  const isFirst = credentialFiles.every((file) => rightIn(sandbox, file) === undefined)
  const missing =
    use === 'keep' || isFirst ? await missingSecrets(sandbox, { credentialFiles, others }) : NONE
  if (use === 'keep') for (const [file, content] of missing) await writeSecret(file, content)
  sandbox.setAccess({
    credentials: keys.flatMap(([idFile, secretFile]) => {
      const [keyId, keySecret] = [rightIn(sandbox, idFile), rightIn(sandbox, secretFile)]
      return keyId === undefined || keySecret === undefined ? [] : [{ keyId, keySecret }]
    }),
    alertTokens: [rightIn(sandbox, tokenFile)].filter((token) => token !== undefined),
  })
  return {
    url: sandbox.url,
    readSecretFile: use === 'keep' ? readSecretFile : readerWith(new Map([...missing, ...moved])),
  }
}

const NONE: ReadonlyMap<string, string> = new Map()

/**
 * Earlier versions kept the credentials of the sandbox among the secrets of sources. What was made up for them goes where it
 * belongs now, and what was right stays right. Secrets that somebody keeps elsewhere are not touched.
 * @returns for a look, which moves nothing: what the files would hold
 */
async function credentialsOfBefore(
  sandbox: Sandbox,
  { credentialsDir, secretsDir }: Pick<Settings, 'credentialsDir' | 'secretsDir'>,
  { credentialFiles, use }: { readonly credentialFiles: readonly string[]; readonly use: SandboxUse },
): Promise<ReadonlyMap<string, string>> {
  const moved = new Map<string, string>()
  if (![credentialsDir, secretsDir].every((folder) => isBelow(resolve(folder), resolve(SANDBOX_HOME))))
    return moved
  for (const file of credentialFiles) {
    if (!isBelow(file, credentialsDir) || rightIn(sandbox, file) !== undefined || !(await isAbsent(file)))
      continue
    const before = join(secretsDir, relative(credentialsDir, file))
    const reading = await readSecretFile(before)
    const right = rightIn(sandbox, before) ?? (reading.found ? reading.value.reveal() : undefined)
    if (right !== undefined) sandbox.keepRightSecret(nameInHome(file), right)
    if (!reading.found) continue
    const content = reading.value.reveal()
    moved.set(file, content)
    if (use === 'look') continue
    await writeSecret(file, content)
    await rm(before)
    await rmdir(dirname(before)).catch(() => undefined) // not while something else is in it
  }
  return moved
}

/**
 * What the secret files that are not there have to hold. The sandbox learns here what is right in each file with credentials that it
 * did not know: what is in it, or else something made up. What it knows stays right, whatever is in the file later.
 */
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

/** The name by which the sandbox knows a file: the same after the folder with both was moved. */
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

interface SecretFiles {
  /** Of each service: with the id of its key, and with the secret of it. */
  readonly keys: readonly (readonly [string, string])[]
  /** Any content will do. */
  readonly others: readonly string[]
}

function secretFilesOf(
  { profile, credentialsDir, secretsDir, adminTokenFile }: Settings,
  catalog: Catalog,
): SecretFiles {
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

/** Where a sandbox run keeps its ledger, its data and its made-up secrets. */
function homeOf({ name }: Profile): string {
  return name === DEFAULT.name ? SANDBOX_HOME : join(SANDBOX_HOME, name)
}

const SANDBOX_HOME = '.pipewright'

/** The ledger of a sandbox run, unless another is named. */
export function sandboxLedger(profile: Profile): string {
  return join(homeOf(profile), 'sandbox-ledger.db')
}
