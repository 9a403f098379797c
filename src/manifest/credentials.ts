import { isScalar } from 'yaml'
import type { Document } from 'yaml'
import { isObject } from '../lib/json.ts'

/** Where a Service names the mounted secret that it signs in with. */
const PLACE = ['spec', 'credentials', 'secretRef', 'name'] as const

/** The mounted secret that the value of a Service names, whatever else is wrong with it. */
export function credentialsIn(value: unknown): string | undefined {
  let part = value
  for (const name of PLACE) part = isObject(part) ? part[name] : undefined
  return typeof part === 'string' ? part : undefined
}

/** The same from the syntax tree of a document that is broken elsewhere. */
export function credentialsInNodes(document: Document): string | undefined {
  if (!document.hasIn(PLACE)) return undefined
  const node = document.getIn(PLACE, true)
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined
}
