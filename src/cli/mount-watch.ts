import { readdir } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import type { Emit } from '../contract/events.ts'
import { keyOf } from '../kinds/key.ts'
import { type ResourceManifest, serviceOf } from '../kinds/manifest.ts'
import { kindFor, type Profile } from '../kinds/profile.ts'
import { asService } from '../kinds/service/kind.ts'
import { isBelow } from '../lib/below.ts'

type MountSettings = Pick<Settings, 'profile' | 'credentialsDir' | 'secretsDir' | 'alertsTokenFile'>

/** In a message. */
const MOST_NAMES = 5

/** Detects platform credentials where manifests can refer to them. */
interface MountWatch {
  /** Reports new problems only. */
  look(catalog: Catalog | undefined): Promise<void>
}

/** For an upgrade from one common secrets directory, or a double mount. Looks at folder names only. */
export function createMountWatch(settings: MountSettings, emit: Emit): MountWatch {
  const { credentialsDir, secretsDir } = settings
  const said = { misplaced: new Set<string>(), twice: new Set<string>() }

  /** Not reported before; a name that vanished can be reported again. */
  function news(of: 'misplaced' | 'twice', names: readonly string[]): readonly string[] {
    const before = said[of]
    said[of] = new Set(names)
    return names.filter((name) => !before.has(name))
  }

  return {
    async look(catalog) {
      const [credentials, secrets] = await Promise.all([namesIn(credentialsDir), namesIn(secretsDir)])
      const needed = namesNeeded(settings, catalog).filter(
        (name) => secrets.has(name) && !credentials.has(name),
      )
      const misplaced = news('misplaced', needed)
      if (misplaced.length > 0) {
        emit({
          type: 'CredentialsMisplaced',
          names: misplaced,
          message:
            `${listOf(misplaced)} are in --secrets-dir (${secretsDir}). The platform's credentials now belong in --credentials-dir: ` +
            `mount them below ${credentialsDir}, and remove them from the secrets directory.`,
        })
      }
      const twice = news('twice', [...credentials].filter((name) => secrets.has(name)).toSorted())
      if (twice.length > 0) {
        emit({
          type: 'CredentialsExposed',
          names: twice,
          message:
            `${listOf(twice)} are in --credentials-dir (${credentialsDir}) and in --secrets-dir (${secretsDir}) as well. ` +
            `A manifest can name what is in the latter, and send it to a source: remove them from the secrets directory.`,
        })
      }
    },
  }
}

/** Credential folders that Services and alerts refer to. */
function namesNeeded(
  { profile, credentialsDir, alertsTokenFile }: MountSettings,
  catalog: Catalog | undefined,
): readonly string[] {
  const names = new Set<string>()
  for (const { manifest } of catalog?.entries.values() ?? []) {
    const service = asService(manifest)
    if (service !== undefined) names.add(service.spec.credentials.secretRef.name)
    if (
      manifest !== undefined &&
      asksForAlerts(profile, manifest) &&
      isBelow(alertsTokenFile, credentialsDir)
    )
      names.add(relative(credentialsDir, alertsTokenFile).split(sep)[0] ?? '')
  }
  return [...names].toSorted()
}

function asksForAlerts(profile: Profile, manifest: ResourceManifest): boolean {
  const key = keyOf(manifest.kind, manifest.metadata.name)
  const kind = kindFor(profile, { key, manifest, record: undefined })
  return (
    serviceOf(manifest) === undefined &&
    'operations' in kind &&
    Object.values(kind.operations).some(({ api }) => api === 'alerts')
  )
}

/** Folders and links, without hidden ones. */
async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    return new Set(folders.map(({ name }) => name).filter((name) => !name.startsWith('.')))
  } catch {
    // A missing folder is empty; an unreadable one is reported by its users.
    return NONE
  }
}

const NONE: ReadonlySet<string> = new Set()

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`)
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return `The credentials ${shown.join(', ')}${more}`
}
