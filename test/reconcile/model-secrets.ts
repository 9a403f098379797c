import { Secret } from '../../src/lib/secret.ts'
import type { SecretStore } from '../../src/reconcile/ports.ts'

/** Mounted secrets: `name/key` → value. */
export interface ModelSecrets extends SecretStore {
  readonly mounted: Map<string, string>
}

export function createModelSecrets(): ModelSecrets {
  const mounted = new Map([
    ['api/keyId', 'id'],
    ['api/keySecret', 'secret'],
    ['kafka/password', 'first'],
  ])
  return {
    mounted,
    async read({ name, key }) {
      const value = mounted.get(`${name}/${key}`)
      if (value !== undefined) return { found: true, value: new Secret(value) }
      return { found: false, file: `/secrets/${name}/${key}`, why: 'absent' }
    },
  }
}
