import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Imported, writeManifests, importReport } from '../../src/cli/imported-manifests.ts'
import type { Io } from '../../src/cli/io.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { pipeBody, SERVICE_ID } from '../support/manifests.ts'
import { createWorkspace } from '../support/workspace.ts'
import { anyText } from '../support/any-text.ts'

/* Whatever a reply has as names and values, it cannot leave the comments on top of a manifest. */

const ID = '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d'

const BREAKS = ['\n', '\r', '\r\n', '\u2028', '\u2029', '\u0085', '\v', '\ufeff', '\u202e', '\0', '\ud83d']

const PIECE = fc.oneof(
  fc.constantFrom(...BREAKS),
  fc.constantFrom('spec: evil', '---', '...', ' #', '# ', ': ', '- ', '"', '%YAML 1.1', '__proto__', '\t'),
  anyText(4),
)

const TEXT = fc.array(PIECE, { maxLength: 5 }).map((pieces) => pieces.join(''))

const VALUE: fc.Arbitrary<Json> = fc.oneof(
  TEXT,
  fc.constantFrom<Json>(1, true, null, [], {}),
  fc.array(TEXT, { maxLength: 2 }),
  fc.dictionary(TEXT, TEXT, { maxKeys: 2 }) as fc.Arbitrary<JsonObject>,
)

const UNKNOWN = fc.dictionary(TEXT, VALUE, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>

/** Adds members to each object, and replaces some texts. */
function disturbed(value: Json, more: () => JsonObject, text: () => string | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => disturbed(item, more, text))
  if (typeof value === 'string') return text() ?? value
  if (!isObject(value)) return value
  const known = Object.entries(value).map(([name, inner]) => [name, disturbed(inner ?? null, more, text)])
  return { ...more(), ...Object.fromEntries(known) }
}

function imported(name: string, body: Json): Imported {
  const resource = { id: ID, serviceId: SERVICE_ID, ...(body as JsonObject) } as RemoteResource // it has an id
  const about = { name, service: 'analytics', secret: 'orders', resource, mask: createSecretMask([]) }
  const key = `Pipe/${name}` as const
  return { key, pipeId: ID, name: '', service: 'analytics', ...importedManifest({ kind: PIPE, ...about }) }
}

async function written(all: readonly Imported[], to: Parameters<typeof writeManifests>[2]): Promise<string> {
  const stdout = new PassThrough()
  const problems = await writeManifests({ stdout } as unknown as Io, all, to) // it only prints
  expect(problems).toEqual([])
  return String(stdout.read() ?? '')
}

function documentsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as unknown
  })
}

test('whatever a reply has as names and values, each output has exactly the manifests', async () => {
  using workspace = createWorkspace()
  let run = 0
  const texts = fc.infiniteStream(fc.option(TEXT, { nil: undefined, freq: 2 }))
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(UNKNOWN), texts, async (unknown, text) => {
      const body = () =>
        disturbed(
          pipeBody('orders'),
          () => unknown.next().value ?? {},
          () => text.next().value,
        )
      const all = [imported('one', body()), imported('two', pipeBody('two')), imported('three', body())]
      const made = all.filter(({ manifest }) => manifest !== undefined)
      const manifests = made.map(({ manifest }) => manifest)
      expect(documentsIn(await written(all, { all: true, output: 'yaml' }))).toEqual(manifests)
      const json = JSON.parse(await written(all, { all: true, output: 'json' })) as readonly Imported[]
      expect(json.flatMap(({ manifest }) => manifest ?? [])).toEqual(manifests)
      for (const one of made) {
        const yaml = await written([one], { output: 'yaml' })
        expect(documentsIn(yaml)).toEqual([one.manifest])
        const comments = yaml.split('\n').filter((line) => line.startsWith('#'))
        expect(comments.filter((line) => /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(line))).toEqual([])
      }
      run += 1
      const outputDir = workspace.path(`out-${run}`)
      await written(all, { all: true, output: 'yaml', outputDir })
      for (const { key, manifest } of made)
        expect(documentsIn(readFileSync(`${outputDir}/${key.slice(5)}.yaml`, 'utf8'))).toEqual([manifest])
      const report = importReport({ surveys: [], all, folder: undefined, problems: [], manifests: '.' })
      expect(report.filter((line) => /[\n\r\u2028\u2029\u0085]/.test(line))).toEqual([])
    }),
    { numRuns: 15 },
  )
})
