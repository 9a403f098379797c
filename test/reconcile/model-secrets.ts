import { Secret } from '../../src/lib/secret.ts'
import type { SecretStore } from '../../src/contract/secrets.ts'

/** Mounted secrets: `name/key` → value; a file with nothing in it is mounted, and no secret. */
export interface ModelSecrets extends SecretStore {
  readonly mounted: Map<string, string>
}

const MOUNTED = [
  ['api/keyId', 'id'],
  ['api/keySecret', 'secret'],
  ['kafka/password', 'first'],
] as const

export function createModelSecrets(mounted = new Map<string, string>(MOUNTED)): ModelSecrets {
  return {
    mounted,
    async read({ name, key }) {
      const value = mounted.get(`${name}/${key}`)
      const file = `/secrets/${name}/${key}`
      if (value === '') return { found: false, file, why: 'empty' }
      if (value !== undefined) return { found: true, value: new Secret(value) }
      return { found: false, file, why: 'absent' }
    },
  }
}
