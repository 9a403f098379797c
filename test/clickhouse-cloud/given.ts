import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { bodyOf, expectedOf, rulesOf, schemaOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { isCreateOnce, type Manifest } from '../../src/kinds/lookup.ts'
import type { ResourceManifest } from '../../src/kinds/manifest.ts'
import { withSecrets } from '../../src/kinds/secret-ref.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { corpus } from '../corpus/load.ts'
import { ROOT } from '../support/process.ts'

/** The manifests that show how this service is used. */
export const FOLDER = join(ROOT, 'examples/clickhouse-cloud')

export const FILES: readonly string[] = globSync('*/*.yaml', { cwd: FOLDER }).toSorted()

export type Declared = Manifest & { readonly kind: 'Pipe' | 'QueryEndpoint' }

/** A manifest that the client takes, and a title for its test. */
export interface Given {
  readonly title: string
  readonly manifest: Declared
}

/** Every pipe and endpoint of the folder and of the corpus. */
export const GIVEN: readonly Given[] = [
  ...FILES.flatMap((file) => declaredIn(file, readFileSync(join(FOLDER, file), 'utf8'))),
  ...corpus('right')
    .filter(({ profile, title }) => profile === CLICKHOUSE_CLOUD.name && title.includes('/'))
    .flatMap(({ title, files }) =>
      Object.entries(files)
        .filter(([file]) => !file.includes('beside'))
        .flatMap(([, content]) => declaredIn(title, content.toString())),
    ),
]

function declaredIn(title: string, text: string): readonly Given[] {
  return parseAllDocuments(text).flatMap((document) => {
    const written = document.toJS() as unknown
    const kind = isObject(written) ? written['kind'] : undefined
    if (kind !== 'Pipe' && kind !== 'QueryEndpoint') return []
    const manifest = schemaOf(CLICKHOUSE_CLOUD, kind)?.parse(written) as Declared
    return [{ title: `${title}: ${kind} ${manifest.metadata.name}`, manifest }]
  })
}

/** A pipe of the folder by the name of its manifest. @throws when there is none */
export function givenNamed(name: string): Declared {
  const found = GIVEN.find(({ manifest }) => manifest.kind === 'Pipe' && manifest.metadata.name === name)
  if (found === undefined) throw new Error(`there is no pipe ${name}`)
  return found.manifest
}

const PEM = '-----BEGIN CERTIFICATE-----\nTWFkZSB1cA==\n-----END CERTIFICATE-----\n'
const KEY_FILE = Buffer.from('{"type":"service_account"}').toString('base64')

/** A text such as stands behind a reference, by the name of its field or of the key of its secret. */
export function secretText(name: string): string {
  if (/certificate$|\.pem$/i.test(name)) return PEM
  if (name.endsWith('privateKey')) return PEM.replaceAll('CERTIFICATE', 'PRIVATE KEY')
  if (/serviceAccount(File|Key)$/.test(name)) return KEY_FILE
  return name.endsWith('uri') ? 'mongodb://planted.example:27017/' : 'planted-text'
}

/** What the client asks for, with references in place. */
export function desiredBody(manifest: Declared): JsonObject {
  return bodyOf(CLICKHOUSE_CLOUD, manifest) ?? {}
}

export function wireBody(manifest: Declared): JsonObject {
  return withSecrets(desiredBody(manifest), secretText)
}

/** What the client itself has against a manifest, before anything is sent. */
export function clientFindings(kind: string, manifest: unknown): readonly string[] {
  const parsed = schemaOf(CLICKHOUSE_CLOUD, kind)?.safeParse(manifest)
  if (parsed?.data === undefined)
    return (parsed?.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return rulesOf(CLICKHOUSE_CLOUD, parsed.data as Declared)
    .filter(({ severity }) => severity === 'error')
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** The alerts that the folder comes with: one of the service, one of HyperDX. */
export function alertsThere(): readonly JsonObject[] {
  const world = parse(readFileSync(`${FOLDER}/.sandbox.yaml`, 'utf8')) as {
    readonly alerts: readonly unknown[]
  }
  return world.alerts.filter(isObject)
}

/** What the folder expects of its alerts, in the order of {@link alertsThere}. */
export function alertsExpected(): readonly JsonObject[] {
  return alertsGiven()
    .filter((manifest) => !isCreateOnce(manifest))
    .map((manifest) => expectedOf(CLICKHOUSE_CLOUD, manifest) ?? {})
}

/** Bodies of those that are created. */
export function alertsWritten(): readonly JsonObject[] {
  return alertsGiven()
    .filter(isCreateOnce)
    .map((manifest) => bodyOf(CLICKHOUSE_CLOUD, manifest) ?? {})
}

function alertsGiven(): readonly ResourceManifest[] {
  const text = readFileSync(join(FOLDER, 'platform/alerts.yaml'), 'utf8')
  return parseAllDocuments(text).map(
    (document) => schemaOf(CLICKHOUSE_CLOUD, 'Alert')?.parse(document.toJS()) as ResourceManifest,
  )
}
