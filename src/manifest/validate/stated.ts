import { isMap, isScalar, type Document, type YAMLMap } from 'yaml'
import type { Stated } from '../../contract/catalog.ts'
import { Metadata, ResourceName } from '../../kinds/manifest.ts'
import { isObject } from '../../lib/json.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'

/* What a document with errors says of whose it is: its labels and its service, as far as these are right. */

/** Labels of one document beyond these are not looked at. */
const MOST_LABELS = 50

const Labels = Metadata.shape.labels

/** From the value of a document. */
export function statedIn(value: unknown): Stated | undefined {
  if (!isObject(value)) return undefined
  const { metadata, spec } = value
  const labels = isObject(metadata) && isObject(metadata['labels']) ? metadata['labels'] : {}
  return stated(
    Object.keys(labels)
      .slice(0, MOST_LABELS)
      .map((name) => [name, labels[name]]),
    isObject(spec) ? spec['service'] : undefined,
  )
}

/** The same from the syntax tree of a document that is broken elsewhere. */
export function statedInNodes({ contents }: Document): Stated | undefined {
  if (!isMap(contents)) return undefined
  const labels = mapAt(mapAt(contents, 'metadata'), 'labels')
  const pairs = (labels?.items ?? [])
    .slice(0, MOST_LABELS)
    .map(({ key, value }) => [textOf(key), textOf(value)] as const)
  return stated(pairs, textOf(mapAt(contents, 'spec')?.get('service', true)))
}

function stated(
  pairs: readonly (readonly [name: unknown, value: unknown])[],
  service: unknown,
): Stated | undefined {
  const labels = pairs.flatMap(([name, value]) =>
    typeof name === 'string' && typeof value === 'string' && isLabel(name, value)
      ? [[name, value] as const]
      : [],
  )
  const named = ResourceName.safeParse(service)
  if (labels.length === 0 && !named.success) return undefined
  return { labels: Object.fromEntries(labels), service: named.data }
}

function isLabel(name: string, value: string): boolean {
  return Labels.safeParse({ [name]: value }).success && !looksLikeToken(name) && !looksLikeToken(value)
}

function mapAt(map: YAMLMap | undefined, name: string): YAMLMap | undefined {
  const node: unknown = map?.get(name, true)
  return isMap(node) ? node : undefined
}

function textOf(node: unknown): unknown {
  return isScalar(node) ? node.value : undefined
}
