import { readdir } from 'node:fs/promises'
import type { Settings } from '../config/settings.ts'
import type { Emit } from '../contract/events.ts'

const MOST_NAMES = 5

export function createMountWatch(
  { credentialsDir, secretsDir }: Pick<Settings, 'credentialsDir' | 'secretsDir'>,
  emit: Emit,
): () => Promise<void> {
  let said: readonly string[] = []
  return async () => {
    const [credentials, secrets] = await Promise.all([namesIn(credentialsDir), namesIn(secretsDir)])
    const before = said
    said = credentials.filter((name) => secrets.includes(name)).toSorted()
    const names = said.filter((name) => !before.includes(name))
    if (names.length === 0) return
    const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`)
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
    emit({
      type: 'CredentialsExposed',
      names,
      message:
        `The credentials ${shown.join(', ')}${more} are in --credentials-dir (${credentialsDir}) and in --secrets-dir (${secretsDir}) as well. ` +
        `Remove them from --secrets-dir, because a manifest can send each file there to a data source.`,
    })
  }
}

/** Names of subfolders without a leading dot. Empty if the folder cannot be read. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
  return folders.map(({ name }) => name).filter((name) => !name.startsWith('.'))
}
