import { type SecretRef, secretRefsIn } from '../../kinds/secret-ref.ts'
import { sensitiveTexts } from '../../kinds/mask.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { SecretMask } from '../../lib/mask/secret-mask.ts'
import type { Secret } from '../../lib/secret.ts'
import type { MissingSecret } from '../../plan/reasons/requests.ts'
import type { SecretReading, SecretStore } from '../../contract/secrets.ts'

export interface BodySecrets {
  readonly values: ReadonlyMap<string, Secret>
  readonly missing: readonly MissingSecret[]
  readonly missingAt: ReadonlyMap<string, MissingSecret>
}

export const NO_SECRETS: BodySecrets = { values: new Map(), missing: [], missingAt: new Map() }

/** Reads the secrets of the body. Adds them, and plain-text secrets in the body, to the mask. */
export async function readBodySecrets(
  store: SecretStore,
  { add }: Pick<SecretMask, 'add'>,
  body: JsonObject,
): Promise<BodySecrets> {
  for (const text of sensitiveTexts(body)) add(text)
  const refs = secretRefsIn(body)
  if (refs.length === 0) return NO_SECRETS
  const values = new Map<string, Secret>()
  const missing = new Map<string, MissingSecret>()
  const missingAt = new Map<string, MissingSecret>()
  for (const { path, ref } of refs) {
    const reading = await store.read(ref, 'source')
    if (reading.found) {
      add(reading.value.reveal())
      values.set(path, reading.value)
    } else {
      missing.set(reading.file, missingOf(reading))
      missingAt.set(path, missingOf(reading))
    }
  }
  const sorted = [...missing.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1))
  return { values, missing: sorted, missingAt }
}

export async function missingCredentials(
  store: SecretStore,
  secretName: string,
): Promise<readonly MissingSecret[]> {
  const refs: SecretRef['secretRef'][] = ['keyId', 'keySecret'].map((key) => ({ name: secretName, key }))
  const readings = await Promise.all(refs.map(async (ref) => store.read(ref, 'platform')))
  return readings.flatMap((reading) => (reading.found ? [] : [missingOf(reading)]))
}

function missingOf({ file, why, misplaced }: SecretReading & { readonly found: false }): MissingSecret {
  return { file, why, misplaced }
}

export function revealed(
  { sourceSecrets }: { readonly sourceSecrets?: 'optional' | undefined },
  secrets: BodySecrets,
  path: string,
): string {
  const secret = secrets.values.get(path)
  if (secret === undefined && sourceSecrets === 'optional') return ''
  if (secret === undefined) throw new Error(`no value for the secret at ${path}`)
  return secret.reveal()
}
