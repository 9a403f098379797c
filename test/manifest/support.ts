import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Recorded } from '../../src/contract/catalog.ts'
import type { Finding } from '../../src/kinds/finding.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { CatalogInput } from '../../src/manifest/catalog/next-catalog.ts'
import type { CatalogState } from '../../src/manifest/catalog/deletion-grace.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { createPlaces } from '../../src/manifest/rules/source-locator.ts'
import type { Reading } from '../../src/manifest/files/read-directory.ts'
import { nextCatalog, parseFile } from '../support/at-once.ts'
import { head, ORGANIZATION, serviceManifest } from '../support/manifests.ts'

export const UUID = ORGANIZATION

export const never = new AbortController().signal

export function service(name: string, serviceId = UUID): string {
  return serviceManifest({ name, serviceId, secret: 'api' })
}

export function pipe(
  name: string,
  options: { readonly policy?: string; readonly service?: string; readonly topics?: string } = {},
): string {
  return `${head('Pipe', name)}policy: {${options.policy ?? ''}}
spec:
  service: ${options.service ?? 'analytics'}
  source: {kafka: {brokers: "b:9092", topics: ${options.topics ?? 'orders'}}}
  destination: {database: default, table: t, columns: [{name: id, type: UInt64}]}
  fieldMappings: [{sourceField: id, destinationField: id}]
`
}

export function endpoint(name: string, of = 'analytics'): string {
  return `${head('QueryEndpoint', name)}spec: {service: ${of}}\n`
}

export function lock(name: string, pipes: Readonly<Record<string, string>>): string {
  return `${head('Lock', name)}spec: {pipes: ${JSON.stringify(pipes)}}\n`
}

export function documents(...texts: readonly string[]): string {
  return texts.join('---\n')
}

export function parse(text: string | Buffer, file = 'a.yaml', profile = DEFAULT): ParsedFile {
  return parseFile(
    { file, hash: String(text), bytes: Buffer.from(text) },
    { profile, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
}

export function findingsOf(file: ParsedFile): readonly Finding[] {
  return [...file.findings, ...file.documents.flatMap((document) => document.findings)]
}

/** A reading of files given as text, as if the directory had said so. */
export function readingOf(texts: Readonly<Record<string, string>>, more: Partial<Reading> = {}): Reading {
  const files = new Map(Object.entries(texts).map(([file, text]) => [file, parse(text, file)]))
  const revision = { id: 'content-000000000001', from: 'content' } as const
  return { revision, files, findings: [], unread: [], problem: undefined, ...more }
}

interface Options {
  /** Each as the file where it was last seen, or as more than that. */
  readonly known?: Readonly<Record<string, string | Partial<Recorded> | undefined>>
  readonly accept?: 'force' | 'normal'
  readonly created?: readonly Key[]
}

export function inputOf(
  previous: CatalogState | undefined,
  reading: Reading,
  options: Options = {},
): CatalogInput {
  const recorded = Object.entries(options.known ?? {}) as [Key, string | Partial<Recorded> | undefined][]
  return {
    previous,
    reading,
    recorded: new Map(recorded.map(([key, known]) => [key, recordedAs(known)])),
    // `parse` hashes nothing: the hash of a file is its text.
    places: createPlaces((file) => reading.files.get(file)?.hash),
    accept: options.accept ?? 'normal',
    created: options.created && new Set(options.created),
  }
}

export function next(
  previous: CatalogState | undefined,
  reading: Reading,
  options: Options = {},
): CatalogState {
  return nextCatalog(inputOf(previous, reading, options))
}

export function recordedAs(known: string | Partial<Recorded> | undefined): Recorded {
  const more = typeof known === 'string' ? { file: known } : known
  return {
    file: undefined,
    digest: undefined,
    validIn: undefined,
    pipeId: undefined,
    isAwaiting: false,
    endpointOf: undefined,
    ...more,
  }
}

export function statesOf(state: CatalogState): Readonly<Record<string, string>> {
  return Object.fromEntries([...state.catalog.entries].map(([key, entry]) => [key, entry.state]))
}

export interface Folder extends Disposable {
  readonly path: string
  write(file: string, text: string | Buffer): void
}

/** A folder of its own that goes away with its scope. */
export function temporaryFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-manifest-')))
  return {
    path,
    write(file, text) {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      writeFileSync(join(path, file), text)
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

export function saidOf(text: string): readonly string[] {
  return findingsOf(parse(text)).map(
    ({ severity, code, line, column, hint }) => `${severity} ${code} ${line}:${column} ${hint}`,
  )
}
